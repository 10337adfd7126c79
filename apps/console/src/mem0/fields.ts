import { FilterError, localIsoOf, readFilter, type Scope, scopeFromFilter, writtenOffset } from '@slowwave/engine';
import { problem } from '@slowwave/http';
import { z } from 'zod';

/** The ids in mem0's bodies; null is the same as omitted. */
export const Ids = {
  user_id: z.string().nullish(),
  agent_id: z.string().nullish(),
  run_id: z.string().nullish(),
  app_id: z.string().nullish(),
};

/** The same as parameters of a query. */
export const QueryIds = {
  user_id: z.string().optional(),
  agent_id: z.string().optional(),
  run_id: z.string().optional(),
  app_id: z.string().optional(),
};

/** Fields for mem0's own service, which make no difference here. */
export const Bookkeeping = {
  output_format: z.string().nullish(),
  version: z.string().nullish(),
  org_id: z.string().nullish(),
  project_id: z.string().nullish(),
  source: z.string().nullish(),
  enable_graph: z.boolean().nullish(),
};

const PAGES_MAX = 100_000;
const SIZE_MAX = 1_000;
const SIZE_USUAL = 100;

export const PageFields = {
  page: z.coerce.number().int().min(1).max(PAGES_MAX).default(1),
  page_size: z.coerce.number().int().min(1).max(SIZE_MAX).default(SIZE_USUAL),
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

interface Scoped {
  readonly scope: Readonly<Record<string, string>>;
  /** In our own API's format. */
  readonly filters: Json;
}

/** The owner in a mem0 filter: the ids that it always requires. */
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

/** Field names in our spelling; metadata is left unchanged. */
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

function idsOf({ userId, agentId, runId, appId }: Scope): Record<string, string> {
  return {
    ...(userId !== null && { user_id: userId }),
    ...(agentId !== null && { agent_id: agentId }),
    ...(runId !== null && { run_id: runId }),
    ...(appId !== null && { app_id: appId }),
  };
}

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
