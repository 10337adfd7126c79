import { type Json, momentOf } from './fields.ts';

/** What mem0's filters say that ours say in other words. Metadata is left unchanged. */
export function spelt(filters: Json): Json {
  const apart: Json[] = [];
  const conditions = Object.entries(filters).flatMap(([key, inner]): [string, unknown][] => {
    const name = SPELLINGS[key] ?? key;
    if (name === 'metadata') return [[name, inner]];
    if (TIMES.has(name)) {
      const { rest, lists } = timesIn(name, inner);
      apart.push(...lists);
      return rest === undefined ? [] : [[name, rest]];
    }
    // A text alone is looked for in the memory; nobody means the whole of it.
    return [
      [name, name === 'memory' && typeof inner === 'string' && inner !== '*' ? { icontains: inner } : within(inner)],
    ];
  });
  const names = conditions.map(([name]) => name);
  const isOnce = new Set(names).size === names.length;
  const joined = isOnce ? [Object.fromEntries(conditions)] : conditions.map(([name, inner]) => ({ [name]: inner }));
  if (joined.length === 1 && joined[0] !== undefined && apart.length === 0) return joined[0];
  return { AND: [...joined.filter((one) => Object.keys(one).length > 0), ...apart] };
}

/** Field names in our spelling. */
const SPELLINGS: Readonly<Record<string, string>> = {
  userId: 'user_id',
  agentId: 'agent_id',
  runId: 'run_id',
  appId: 'app_id',
  createdAt: 'created_at',
  updatedAt: 'updated_at',
  memoryIds: 'memory_ids',
  expiration_date: 'expires_at',
  expirationDate: 'expires_at',
  timestamp: 'said_at',
  text: 'memory',
  keywords: 'memory',
  keywords_search: 'memory',
  and: 'AND',
  or: 'OR',
  not: 'NOT',
  $and: 'AND',
  $or: 'OR',
  $not: 'NOT',
};

function within(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(within);
  return typeof value === 'object' && value !== null ? spelt(value as Json) : value;
}

const TIMES: ReadonlySet<string> = new Set(['created_at', 'updated_at', 'said_at', 'expires_at']);

/** Times in seconds become texts; one of several times is an OR, for which our filters of times have no operator. */
function timesIn(name: string, given: unknown): { readonly rest: unknown; readonly lists: readonly Json[] } {
  if (Array.isArray(given)) return { rest: undefined, lists: [anyOf(name, given)] };
  if (typeof given !== 'object' || given === null) return { rest: timeOf(given), lists: [] };
  const { in: some, nin: none, ...rest } = given as { readonly in?: unknown; readonly nin?: unknown };
  const lists = [
    ...(Array.isArray(some) ? [anyOf(name, some)] : []),
    ...(Array.isArray(none) ? [{ NOT: none.map((one) => ({ [name]: timeOf(one) })) }] : []),
  ];
  const others = Object.entries(rest).map(([operator, value]) => [operator, timeOf(value)]);
  return { rest: others.length === 0 && lists.length > 0 ? undefined : Object.fromEntries(others), lists };
}

const anyOf = (name: string, times: readonly unknown[]): Json => ({
  OR: times.map((one) => ({ [name]: timeOf(one) })),
});

const timeOf = (value: unknown): unknown => (typeof value === 'number' ? momentOf(value) : value);
