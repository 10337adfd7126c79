import { FilterError, readFilter, scopeFromFilter } from '@slowwave/engine';
import { problem } from '@slowwave/http';

export type Json = Readonly<Record<string, unknown>>;

export interface Scoped {
  readonly scope: Readonly<Record<string, string>>;
  /** As our own API takes it. */
  readonly filters: Json;
}

/** Whose memories a filter of mem0's asks for: the ids that it demands whatever else it says. */
export function scopedBy(given: Json | undefined): Scoped {
  const filters = spelt(given ?? {}) as Json;
  const scope = read(filters);
  if (scope === null) {
    throw problem(
      'invalid_request',
      'filters must name one owner: user_id, agent_id or run_id with one value, on its own or inside AND; searching ' +
        'several owners at once is not supported',
    );
  }
  return { scope: idsOf(scope), filters };
}

function read(filters: Json) {
  try {
    return scopeFromFilter(readFilter(filters));
  } catch (error) {
    if (error instanceof FilterError) throw problem('invalid_request', error.message);
    throw error;
  }
}

/** Field names as they are written here; what stands inside of metadata is the caller's own. */
const SPELLINGS: Readonly<Record<string, string>> = {
  userId: 'user_id',
  agentId: 'agent_id',
  runId: 'run_id',
  appId: 'app_id',
  createdAt: 'created_at',
  updatedAt: 'updated_at',
  memoryIds: 'memory_ids',
  and: 'AND',
  or: 'OR',
  not: 'NOT',
};

function spelt(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(spelt);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => [SPELLINGS[key] ?? key, key === 'metadata' ? inner : spelt(inner)]),
  );
}

interface Ids {
  readonly userId: string | null;
  readonly agentId: string | null;
  readonly runId: string | null;
  readonly appId: string | null;
}

function idsOf({ userId, agentId, runId, appId }: Ids): Record<string, string> {
  return {
    ...(userId !== null && { user_id: userId }),
    ...(agentId !== null && { agent_id: agentId }),
    ...(runId !== null && { run_id: runId }),
    ...(appId !== null && { app_id: appId }),
  };
}

/** A condition that has to hold as well. */
export const also = (filters: Json, condition: Json | null): Json =>
  condition === null ? filters : { AND: [filters, condition] };

export const queryText = (query: Readonly<Record<string, string | number | undefined>>): string => {
  const given = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) if (value !== undefined) given.set(name, String(value));
  return given.size === 0 ? '' : `?${given}`;
};
