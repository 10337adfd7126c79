import type { MemoryView, UsedIdView, UserView } from '@slowwave/contracts';
import { FilterError, readFilter, type Scope, scopeFromFilter } from '@slowwave/engine';
import { countMore, type FastifyRequest, principalOf, problem } from '@slowwave/http';
import { type Ask, everything, PAGE, pageOf } from './ask.ts';
import { type Json, momentOf } from './format.ts';

/**
 * Whose memories a filter of mem0's is about. mem0 stores users, agents and runs apart, so its filters name several owners at
 * once, in an OR or a list, or all of a kind as "*". Here each request is about one owner: it becomes as many requests, and
 * what they find is put together. An agent, run or app that is named without a user also means what users' memories were said
 * under it.
 */

/** One owner, or an app alone, and which of its memories: a filter of our own API. */
export interface Scoped {
  readonly scope: Readonly<Record<string, string>>;
  readonly filters: Json;
}

/** Most owners of one search. */
const SEARCHED_MAX = 20;
/** Most owners of one list. */
export const LISTED_MAX = 1_000;

export async function ownersIn(ask: Ask, request: FastifyRequest, { filters, most }: { filters: Json; most: number }) {
  const spelled = spelt(filters);
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

interface Searched {
  readonly owners: readonly Scoped[];
  /** An agent or run of which only what it owns itself is searched: too many others have something from it. */
  readonly alone: readonly Scoped[];
}

/** The same for a search, which is about owners: in the place of an id without a user those who have memories said under it. */
export async function searchedOwners(ask: Ask, request: FastifyRequest, filters: Json): Promise<Searched> {
  const named = await ownersIn(ask, request, { filters, most: SEARCHED_MAX });
  const found = new Map<string, Scoped>();
  const alone: Scoped[] = [];
  for (const one of named) {
    const own = hasOwner(one) ? [one.scope] : [];
    const others = meansOthers(request, one) ? await ownersUnder(ask, request, one) : [];
    if (others === null) alone.push(one);
    const { filters } = one;
    for (const scope of [...own, ...(others ?? [])]) found.set(JSON.stringify([scope, filters]), { scope, filters });
  }
  if (found.size > SEARCHED_MAX || !alone.every(hasOwner)) throw tooMany(SEARCHED_MAX);
  countMore(request, found.size - named.length);
  return { owners: [...found.values()], alone };
}

/** As many memories tell who owns what was said under an id. */
const LOOKED_AT = 2_000;

/** null: more than can be searched, or too many memories to tell. */
async function ownersUnder(ask: Ask, request: FastifyRequest, { scope, filters }: Scoped) {
  const owners = new Map<string, Scoped['scope']>();
  let cursor: string | undefined;
  for (let looked = 0; looked === 0 || cursor !== undefined; looked += PAGE) {
    if (looked >= LOOKED_AT) return null;
    const page = await pageOf<MemoryView>(ask, request, { path: UNDER, query: scope, filters, cursor });
    for (const memory of page.results) {
      const owner = OWNERS.find((id) => memory[id] !== null) ?? 'user_id';
      owners.set(`${owner} ${memory[owner]}`, { [owner]: memory[owner] ?? '' });
    }
    if (owners.size > SEARCHED_MAX) return null;
    cursor = page.next_cursor ?? undefined;
  }
  return [...owners.values()];
}

/** All memories that are meant: the owner's, and what others' were said under. */
export async function memoriesOf(ask: Ask, request: FastifyRequest, one: Scoped): Promise<readonly MemoryView[]> {
  const { scope: query, filters } = one;
  const own = hasOwner(one) ? await everything<MemoryView>(ask, request, { path: '/v1/memories', query, filters }) : [];
  if (!meansOthers(request, one)) return own;
  return [...own, ...(await everything<MemoryView>(ask, request, { path: UNDER, query, filters }))];
}

/** What was said under an agent, run or app. */
export const UNDER = '/v1/ids/memories';

export const hasOwner = ({ scope }: Pick<Scoped, 'scope'>): boolean => OWNERS.some((id) => scope[id] !== undefined);

/** Whether an agent, run or app is named without a user, by a key that may see all users. */
export const meansOthers = (request: FastifyRequest, { scope }: Pick<Scoped, 'scope'>): boolean =>
  scope.user_id === undefined && !isBound(request);

/** Whether the key is for one user or app alone. */
function isBound(request: FastifyRequest): boolean {
  const { userId, appId } = principalOf(request);
  return userId !== null || appId !== null;
}

/** The one owner that a filter names. */
export function ownerIn(filters: Json): Scoped {
  const one = scoped(spelt(filters));
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
export const OWNERS = ['user_id', 'agent_id', 'run_id'] as const;
/** What memories are found by. */
export const IDS = [...OWNERS, 'app_id'] as const;
type Id = (typeof IDS)[number];
const isId = (name: string): name is Id => IDS.some((id) => id === name);

/** The owner that a filter without choices names, an app alone, or all of a kind, if it says "*" of it. */
async function ownersOf(ask: Ask, request: FastifyRequest, filters: Json): Promise<Scoped[]> {
  const one = scoped(filters);
  const said = new Map(saidIn(filters));
  const name = IDS.find((id) => one?.scope[id] !== undefined || said.has(id));
  if (name === undefined || (name === 'app_id' && isBound(request))) throw nobody();
  if (one?.scope[name] !== undefined) return [one];
  const id = said.get(name) ?? '';
  const all = id === EVERYBODY ? await allOf(ask, request, name) : [id];
  return all.map((one) => ({ scope: { [name]: one }, filters }));
}

/** What "*" means of an id: every owner of the kind, and what memories were said under. */
async function allOf(ask: Ask, request: FastifyRequest, name: Id): Promise<readonly string[]> {
  const owners = await everything<UserView>(ask, request, { path: '/v1/users' });
  const used = isBound(request) ? [] : await everything<UsedIdView>(ask, request, { path: '/v1/ids' });
  return [...new Set([...owners, ...used].filter(({ kind }) => name === `${kind}_id`).map(({ id }) => id))];
}

export const EVERYBODY = '*';

/** The ids that must be as they are said, or anything. */
function saidIn(filters: unknown): readonly (readonly [Id, string])[] {
  if (Array.isArray(filters)) return filters.flatMap(saidIn);
  if (typeof filters !== 'object' || filters === null) return [];
  return Object.entries(filters).flatMap(([name, inner]) => {
    if (isId(name)) return said(inner).map((id) => [name, id] as const);
    return name === 'AND' ? saidIn(inner) : [];
  });
}

function said(given: unknown): readonly string[] {
  if (typeof given === 'string') return [given];
  const { eq } = (given ?? {}) as { readonly eq?: unknown };
  return typeof eq === 'string' ? [eq] : [];
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
    if (name === 'OR' && Array.isArray(inner) && inner.some(namesId)) {
      return inner.flatMap((one) => alternatives(one, most));
    }
    return isId(name) ? valuesOf(inner).map((value) => [{ [name]: value }]) : [[{ [name]: inner }]];
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

const namesId = (filter: unknown): boolean =>
  Array.isArray(filter)
    ? filter.some(namesId)
    : typeof filter === 'object' &&
      filter !== null &&
      Object.entries(filter).some(([name, inner]) => isId(name) || namesId(inner));

function valuesOf(given: unknown): readonly unknown[] {
  const list = Array.isArray(given) ? given : (given as { readonly in?: unknown } | null)?.in;
  return Array.isArray(list) ? list : [given];
}

const nobody = () =>
  problem(
    'invalid_request',
    'filters must name the owner of the memories: a user_id, agent_id, run_id or app_id, several in an OR or as a list, or "*" for all ' +
      'of a kind',
  );

const tooMany = (most: number) =>
  problem(
    'invalid_request',
    `filters match more than ${most} owners, or an app with too many memories to find their owners; name at most ${most} users`,
  );

function idsOf({ userId, agentId, runId, appId }: Scope): Record<string, string> {
  return {
    ...(userId !== null && { user_id: userId }),
    ...(agentId !== null && { agent_id: agentId }),
    ...(runId !== null && { run_id: runId }),
    ...(appId !== null && { app_id: appId }),
  };
}

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
