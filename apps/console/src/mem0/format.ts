import type { HistoryEvent, MemoryView, RelationView, UsedIdView, UserView } from '@slowwave/contracts';
import { localIsoOf, writtenOffset } from '@slowwave/engine';
import { problem } from '@slowwave/http';
import { z } from 'zod';

// What mem0's clients send.

/** The ids in mem0's bodies; null is the same as omitted. */
export const Ids = {
  user_id: z.string().nullish(),
  agent_id: z.string().nullish(),
  run_id: z.string().nullish(),
  app_id: z.string().nullish(),
};

/** The ids that are given. */
export const idsIn = (given: z.infer<z.ZodObject<typeof Ids>>): Record<string, string> =>
  Object.fromEntries(
    Object.keys(Ids).flatMap((name) => {
      const id = given[name as keyof typeof Ids];
      return id ? [[name, id]] : [];
    }),
  );

/** Fields for mem0's own service, which make no difference here. */
const BOOKKEEPING: ReadonlySet<string> = new Set([
  'org_id',
  'project_id',
  'org_name',
  'project_name',
  'source',
  'version',
  'api_version',
  // Keywords are always searched, too, and events are always processed in order.
  'keyword_search',
  'temporal_reasoning',
]);

/** More than any client sends. */
const FIELDS_MAX = 200;

/** What mem0's clients send to say that an option is not wanted. */
const isUnset = (value: unknown): boolean => value === null || value === false || value === 'false' || value === '';

/**
 * A body or query of mem0's. Clients send more than they mean: fields that only mem0's own service needs, and options that
 * are off. These are dropped. Other unknown fields are refused, since ignoring them would be misleading.
 */
export function sent<Shape extends z.ZodRawShape>(shape: Shape) {
  const meant = (value: unknown): unknown => {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
    if (Object.keys(value).length > FIELDS_MAX) return value; // it is refused as it is
    const isMeant = ([name, one]: [string, unknown]): boolean =>
      Object.hasOwn(shape, name) || !(BOOKKEEPING.has(name) || isUnset(one));
    return Object.fromEntries(Object.entries(value).filter(isMeant));
  };
  return z.preprocess(meant, z.strictObject(shape));
}

const PAGES_MAX = 100_000;
const SIZE_MAX = 20_000;
export const SIZE_USUAL = 100;

const Page = z.coerce.number().int().min(1).max(PAGES_MAX);
const Size = z.coerce.number().int().min(1).max(SIZE_MAX);

export const PageFields = { page: Page.default(1), page_size: Size.default(SIZE_USUAL) };

/** As many as asked for, or one page. */
export const Extent = {
  page: Page.nullish(),
  page_size: Size.nullish(),
  top_k: Size.nullish(),
  limit: Size.nullish(),
};

const DAY = /^\d{4}-\d{2}-\d{2}$/;
const SECOND_MS = 1_000;

/** A time in mem0's formats: seconds since 1970, a day, or ISO 8601 with or without an offset, which is kept. */
export function momentOf(given: number | string): string {
  const text = typeof given === 'string' ? given : '';
  const date =
    typeof given === 'number' ? new Date(given * SECOND_MS) : new Date(DAY.test(text) ? text : withOffset(text));
  if (!Number.isNaN(date.getTime())) return localIsoOf(date.getTime(), writtenOffset(text) ?? undefined);
  throw problem('invalid_request', `expected a time as seconds or ISO 8601, got ${JSON.stringify(given).slice(0, 80)}`);
}

/** Without an offset it is UTC: the server's time zone must not matter. */
const withOffset = (text: string): string => (/(z|[+-]\d{2}:?\d{2})$/i.test(text) ? text : `${text}Z`);

export type Json = Readonly<Record<string, unknown>>;

/** Adds a condition. */
export const also = (filters: Json, condition: Json | null): Json =>
  condition === null ? filters : { AND: [filters, condition] };

export const queryText = (query: Readonly<Record<string, string | number | undefined>>): string => {
  const given = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) if (value !== undefined) given.set(name, String(value));
  return given.size === 0 ? '' : `?${given}`;
};

/** The path of a memory in our own API. */
export const memoryPath = (id: string): string => `/v1/memories/${encodeURIComponent(id)}`;

// What they get.

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
