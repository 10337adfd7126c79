import type { UserView } from '@slowwave/contracts';
import { FilterError, readFilter, type Scope, scopeFromFilter } from '@slowwave/engine';
import { countMore, type FastifyRequest, problem } from '@slowwave/http';
import { type Ask, everything } from './ask.ts';
import type { Json } from './fields.ts';

/**
 * Whose memories a filter of mem0's is about. mem0 stores users, agents and runs apart, so its filters name several owners at
 * once, in an OR or a list, or all of a kind as "*". Here each request is about one owner: it becomes as many requests, and
 * what they find is put together.
 */

/** One owner, and which of its memories: a filter of our own API. */
export interface Scoped {
  readonly scope: Readonly<Record<string, string>>;
  readonly filters: Json;
}

/** Most owners of one search. */
export const SEARCHED_MAX = 20;
/** Most owners of one list. */
export const LISTED_MAX = 1_000;

export async function ownersIn(ask: Ask, request: FastifyRequest, { filters, most }: { filters: Json; most: number }) {
  const spelled = spelt(filters) as Json;
  const whole = scoped(spelled);
  if (whole?.scope.user_id !== undefined) return [whole];
  const found: Scoped[] = [];
  for (const conditions of alternatives(spelled, most)) {
    found.push(...(await ownersOf(ask, request, { AND: conditions })));
    if (found.length > most) throw tooMany(most);
  }
  countMore(request, found.length - 1);
  return found;
}

/** The one owner that a filter names. */
export function ownerIn(filters: Json): Scoped {
  const one = scoped(spelt(filters) as Json);
  if (one === null) throw nobody();
  return one;
}

function scoped(filters: Json): Scoped | null {
  try {
    const scope = scopeFromFilter(readFilter(filters));
    return scope && { scope: idsOf(scope), filters };
  } catch (error) {
    if (error instanceof FilterError) throw problem('invalid_request', error.message);
    throw error;
  }
}

/** The kinds of owners: a memory belongs to the first that is set. */
const OWNERS = ['user_id', 'agent_id', 'run_id'] as const;
type OwnerId = (typeof OWNERS)[number];
const isOwnerId = (name: string): name is OwnerId => OWNERS.some((id) => id === name);

/** The owner that a filter without choices names, or all owners of a kind, if it says "*" of it. */
async function ownersOf(ask: Ask, request: FastifyRequest, filters: Json): Promise<Scoped[]> {
  const one = scoped(filters);
  const wild = new Set<string>(wildIn(filters));
  const name = OWNERS.find((id) => one?.scope[id] !== undefined || wild.has(id));
  if (name === undefined) throw nobody();
  if (one?.scope[name] !== undefined) return [one];
  const all = await everything<UserView>(ask, request, { path: '/v1/users' });
  return all.filter(({ kind }) => name === `${kind}_id`).map(({ id }) => ({ scope: { [name]: id }, filters }));
}

function wildIn(filters: unknown): readonly OwnerId[] {
  if (Array.isArray(filters)) return filters.flatMap(wildIn);
  if (typeof filters !== 'object' || filters === null) return [];
  return Object.entries(filters).flatMap(([name, inner]) => {
    if (isOwnerId(name)) return inner === '*' ? [name] : [];
    return name === 'AND' ? wildIn(inner) : [];
  });
}

/** Conditions that must all be true. */
type Conditions = readonly Json[];

/** Of these at least one is true wherever the filter is. It is taken apart only where it leaves a choice of owners. */
function alternatives(filter: unknown, most: number): readonly Conditions[] {
  if (typeof filter !== 'object' || filter === null || Array.isArray(filter)) throw nobody();
  const choices = Object.entries(filter).map(([name, inner]): readonly Conditions[] => {
    if (name === 'AND' && Array.isArray(inner)) {
      return together(
        inner.map((one) => alternatives(one, most)),
        most,
      );
    }
    if (name === 'OR' && Array.isArray(inner) && inner.some(namesOwner)) {
      return inner.flatMap((one) => alternatives(one, most));
    }
    return isOwnerId(name) ? valuesOf(inner).map((value) => [{ [name]: value }]) : [[{ [name]: inner }]];
  });
  return together(choices, most);
}

/** One of each, in every way. */
const together = (choices: readonly (readonly Conditions[])[], most: number): readonly Conditions[] =>
  choices.reduce<readonly Conditions[]>(
    (before, some) => {
      if (before.length * some.length > most) throw tooMany(most);
      return before.flatMap((one) => some.map((other) => [...one, ...other]));
    },
    [[]],
  );

const namesOwner = (filter: unknown): boolean =>
  Array.isArray(filter)
    ? filter.some(namesOwner)
    : typeof filter === 'object' &&
      filter !== null &&
      Object.entries(filter).some(([name, inner]) => isOwnerId(name) || namesOwner(inner));

function valuesOf(given: unknown): readonly unknown[] {
  const list = Array.isArray(given) ? given : (given as { readonly in?: unknown } | null)?.in;
  return Array.isArray(list) ? list : [given];
}

const nobody = () =>
  problem(
    'invalid_request',
    'filters must say whose memories are meant: a user_id, agent_id or run_id, several in an OR or as a list, or "*" for all ' +
      'of a kind',
  );

const tooMany = (most: number) =>
  problem('invalid_request', `filters mean more than ${most} owners; name at most ${most}, and ask several times`);

/** Field names in our spelling; metadata is left unchanged. */
const SPELLINGS: Readonly<Record<string, string>> = {
  userId: 'user_id',
  agentId: 'agent_id',
  runId: 'run_id',
  appId: 'app_id',
  createdAt: 'created_at',
  updatedAt: 'updated_at',
  memoryIds: 'memory_ids',
  expiration_date: 'expires_at',
  and: 'AND',
  or: 'OR',
  not: 'NOT',
  $and: 'AND',
  $or: 'OR',
  $not: 'NOT',
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
