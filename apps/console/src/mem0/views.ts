import type { HistoryEvent, MemoryView, RelationView, UsedIdView, UserView } from '@slowwave/contracts';

/** One of our memories; it has at most one category, in a list as in mem0. */
export const mem0Memory = (memory: MemoryView & { readonly score?: number }) => ({
  id: memory.id,
  memory: memory.memory,
  user_id: memory.user_id,
  agent_id: memory.agent_id,
  app_id: memory.app_id,
  run_id: memory.run_id,
  metadata: memory.metadata,
  categories: memory.categories,
  immutable: memory.immutable,
  created_at: memory.created_at,
  updated_at: memory.updated_at,
  expiration_date: memory.expires_at?.slice(0, DAY_LENGTH) ?? null,
  ...(memory.score !== undefined && { score: memory.score }),
});

const DAY_LENGTH = 'yyyy-mm-dd'.length;

/** mem0's clients read the destination as target in lists and as destination in searches. */
export const mem0Relation = (
  relation: Pick<RelationView, 'source' | 'relationship' | 'destination'> & { readonly score?: number },
) => ({
  source: relation.source.name,
  relationship: relation.relationship,
  target: relation.destination.name,
  destination: relation.destination.name,
  ...(relation.score !== undefined && { score: relation.score }),
});

export const mem0Event = (userId: string | null) => (event: HistoryEvent) => ({
  id: event.id,
  memory_id: event.memory_id,
  input: [],
  old_memory: event.previous,
  new_memory: event.memory,
  user_id: userId,
  event: event.event,
  categories: [],
  created_at: event.created_at,
  updated_at: event.created_at,
});

/** Whoever memories belong to, or under what they were said. */
type Entity = Pick<UserView, 'id' | 'memories' | 'created_at' | 'updated_at'> & {
  readonly kind: UsedIdView['kind'] | 'user';
};

export const mem0Entity = ({ kind, id, memories, created_at, updated_at }: Entity) => ({
  id,
  name: id,
  type: kind,
  owner: '',
  total_memories: memories,
  created_at,
  updated_at,
});

/** A page in mem0's format, out of all items. */
export function mem0Page<T>(all: readonly T[], { page, size, path }: { page: number; size: number; path: string }) {
  const at = (number: number): string => `${path}?page=${number}&page_size=${size}`;
  return {
    count: all.length,
    next: page * size < all.length ? at(page + 1) : null,
    previous: page > 1 ? at(page - 1) : null,
    results: all.slice((page - 1) * size, page * size),
  };
}
