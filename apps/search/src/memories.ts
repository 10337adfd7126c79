import {
  History,
  type HistoryEvent,
  ListIdsQuery,
  ListMemoriesOfIdsQuery,
  ListMemoriesQuery,
  ListUsersQuery,
  MemoryList,
  MemoryView,
  type MessageHit,
  type MessageList,
  PageQuery,
  type RelationHit,
  SourceList,
  SourcesQuery,
  type SourceView,
  StatsView,
  UsedIdList,
  type UsedIdView,
  UserList,
  type UserView,
} from '@slowwave/contracts';
import {
  type BatchCounts,
  besideOwner,
  conclusionView,
  deletedAt,
  eventsInApp,
  type Filter,
  type FoundRelation,
  filterableOf,
  filterIn,
  type IndexHit,
  idListsOf,
  inApp,
  isoOf,
  isoOrNull,
  isUnder,
  type Ledger,
  liveVersion,
  type Memory,
  type MemoryEvent,
  type MemoryVersion,
  type Message,
  type Millis,
  matches,
  memoryView,
  type NamedIds,
  namedIdsIn,
  type OwnerSummary,
  type Page,
  type Paged,
  quotedIn,
  relationCore,
  type Scope,
  type Speaker,
  saidView,
  scopeOf,
  scopeView,
  shownVersion,
  type TenantId,
  type UsedId,
  versionAsOf,
} from '@slowwave/engine';
import {
  type FastifyRequest,
  IdParams,
  listed,
  mayKnow,
  momentOf,
  notFound,
  ownApp,
  pageOf,
  problem,
  requestTenant,
} from '@slowwave/http';
import { z } from 'zod';
import { routesOf, type SearchDeps } from './deps.ts';

const route = routesOf('memories');

/** Reading the ledger without a query: memories, who has some or was named with them, and counts. */
export const memoryRoutes = [
  route('GET /v1/memories', {
    id: 'listMemories',
    summary: "List an owner's memories, newest first",
    description:
      'The owner is the first of user_id, agent_id and run_id that is set; the other ids only filter. Returns the ' +
      'current version of each memory, as in search results; filters apply to the latest version. With as_of, the version ' +
      'that was true at that time, also of memories that have ended since; the order stays the same.',
    query: ListMemoriesQuery,
    answer: MemoryList,
    bounds: { by: 'query', apps: true },
    subject: true,
    handle: async ({ ledger, tools }, { tenant, query, request }) => {
      const [scope, now, page] = [scopeOf(query), tools.now(), pageOf(query)];
      const where = filterIn(query.filters);
      const [app, at] = [ownApp(request), momentOf(query.as_of) ?? null];
      if (app !== null || at !== null) {
        const known = await listByLooking(ledger, { tenant, scope, now, page, where, app, at });
        return listed(known, ({ memory, version }: Shown) => memoryView(memory, version));
      }
      const memories =
        where === null
          ? await ledger.memories.list(tenant, scope, now, page)
          : await ledger.filtered.list(tenant, { scope, now, where }, page);
      return listed(memories, (memory: Memory) => memoryView(memory, shownVersion(memory, now)));
    },
  }),
  route('GET /v1/memories/:id', {
    id: 'getMemory',
    summary: 'Get a memory',
    description:
      'Returns its current version, as in search results. A change that takes effect later is only in the ' +
      'history until then.',
    params: IdParams,
    answer: MemoryView,
    bounds: { by: 'found', apps: true },
    subject: true,
    handle: async ({ ledger, tools }, { params: { id }, request }) => {
      const memory = await existing(ledger, request, id);
      if (liveVersion(memory) !== null) return memoryView(memory, shownVersion(memory, tools.now()));
      const what = deletedAt(memory) === null ? 'undone' : 'deleted';
      throw problem('not_found', `memory ${id} was ${what}; see /v1/memories/${id}/history`);
    },
  }),
  route('GET /v1/memories/:id/history', {
    id: 'getHistory',
    summary: 'Get the history of a memory, oldest event first',
    params: IdParams,
    query: z.strictObject(PageQuery),
    answer: History,
    bounds: { by: 'found', apps: true },
    subject: true,
    handle: async ({ ledger }, { tenant, params, query, request }) => {
      const memory = await existing(ledger, request, params.id);
      const events = await ledger.memories.history(tenant, memory.id, pageOf(query));
      const app = ownApp(request);
      const results = app === null ? events.results : eventsInApp(memory, events.results, app);
      return listed({ ...events, results }, historyView(await speakersOf({ ledger }, tenant, results)));
    },
  }),
  route('GET /v1/memories/:id/sources', {
    id: 'getSources',
    summary: 'Get the messages a memory came from, optionally with their neighbours',
    params: IdParams,
    query: SourcesQuery,
    answer: SourceList,
    bounds: { by: 'found', apps: false },
    subject: true,
    handle: async ({ ledger }, { tenant, params, query, request }) => {
      const memory = await existing(ledger, request, params.id);
      const sources = await ledger.memories.sources(tenant, memory.id, query);
      return { results: sources.map(quotedSource(memory)), next_cursor: null };
    },
  }),
  route('GET /v1/users', {
    id: 'listUsers',
    summary: 'List the users, agents and runs that own memories or have waiting batches',
    query: ListUsersQuery,
    answer: UserList,
    handle: async ({ ledger }, { tenant, query }) =>
      listed(
        await ledger.overview.owners(tenant, pageOf(query), { idPrefix: query.id_prefix ?? '', order: query.order }),
        userView,
      ),
  }),
  route('GET /v1/stats', {
    id: 'getStats',
    summary: 'Get counts, and check that they add up',
    description: 'batches.gap is accepted minus all other counts; any value other than 0 is a defect.',
    answer: StatsView,
    handle: async ({ ledger }, { tenant }) => stats(ledger, tenant),
  }),
  route('GET /v1/ids', {
    id: 'listIds',
    summary: 'List the agents, runs and apps under which memories were said',
    description: 'Sorted by kind, then by id. Only ids with current memories, of any owner.',
    query: ListIdsQuery,
    answer: UsedIdList,
    handle: async ({ ledger }, { tenant, query }) => listed(await ledger.saidIds.list(tenant, pageOf(query)), usedView),
  }),
  route('GET /v1/ids/memories', {
    id: 'listMemoriesOfIds',
    summary: 'List the memories of all owners that were said under an agent, run or app',
    description:
      'Memories that match all of the given ids, in the order of the memory ids. A page may have fewer than limit memories, or none, ' +
      'if filters exclude most of them; next_cursor shows whether there are more.',
    query: ListMemoriesOfIdsQuery,
    answer: MemoryList,
    handle: async ({ ledger, tools }, { tenant, query }) => {
      const asked = { named: namedIdsIn(query), now: tools.now(), where: filterIn(query.filters) };
      const memories = await saidUnder(ledger, { tenant, ...asked }, pageOf(query));
      return listed(memories, (memory) => memoryView(memory, shownVersion(memory, asked.now)));
    },
  }),
];

/** A source with the words of it that the memory, in any version, rests on. */
const quotedSource = (memory: Memory) => {
  const said = memory.timeline.flatMap((mark) => (mark.kind === 'said' ? mark.details : []));
  return ({ message, isSource }: { readonly message: Message; readonly isSource: boolean }) => {
    const view = sourceView(message, isSource);
    const quotes = said.filter(({ sourceIds }) => sourceIds.includes(message.id)).map(({ quote }) => quote);
    return { ...view, quotes: [...quotedIn(view.content, quotes)] };
  };
};

/** A memory in the version that a list shows. */
interface Shown {
  readonly memory: Memory;
  readonly version: MemoryVersion;
}

interface Looking {
  readonly tenant: TenantId;
  readonly scope: Scope;
  readonly now: Millis;
  readonly page: Page;
  readonly where: Filter | null;
  /** The list is as this app knows its memories; null: as they are known in all. */
  readonly app: string | null;
  /** The moment it is about; null: now. */
  readonly at: Millis | null;
}

/** No memory has ended by then. */
const BEFORE_ALL: Millis = -Number.MAX_SAFE_INTEGER;

/**
 * A list of which the memories themselves tell what belongs to it: what they said at another moment, or as one app knows them. A
 * filter is asked of that, the other ids are, and whether they have ended.
 */
async function listByLooking(ledger: Ledger, looking: Looking): Promise<Paged<Shown>> {
  const { tenant, scope, now, page, where, app, at } = looking;
  const ids = besideOwner(scope);
  const fits = (memory: Memory): boolean =>
    isUnder(idListsOf(memory), ids) && (where === null || matches(where, filterableOf(memory)));
  const shownAt = (memory: Memory): MemoryVersion | null => {
    if (at !== null) return versionAsOf(memory, at);
    return isLiveAt(memory, now) ? shownVersion(memory, now) : null;
  };
  const results: Shown[] = [];
  for (let cursor = page.cursor; ; ) {
    const more = { limit: page.limit - results.length, cursor };
    const some: Paged<Memory> =
      at === null
        ? await ledger.memories.list(tenant, scope, BEFORE_ALL, more)
        : await ledger.memories.around(tenant, { scope, at }, more);
    const known = app === null ? some.results : some.results.flatMap((memory) => inApp(memory, app) ?? []);
    for (const memory of known) {
      const version = shownAt(memory);
      if (version !== null && fits(memory)) results.push({ memory, version });
    }
    cursor = some.nextCursor;
    if (cursor === null || results.length >= page.limit) return { results, nextCursor: cursor };
  }
}

function isLiveAt(memory: Memory, now: Millis): boolean {
  const expiresAt = liveVersion(memory)?.details.expiresAt;
  return expiresAt !== undefined && (expiresAt === null || expiresAt > now);
}

/** A memory that the key may see, deleted or not, as it may see it. */
export async function existing(ledger: Ledger, request: FastifyRequest, id: string): Promise<Memory> {
  const memory = await ledger.memories.get(requestTenant(request) as TenantId, id);
  const app = ownApp(request);
  const known = memory === null || app === null ? memory : inApp(memory, app);
  if (known === null || !mayKnow(request, known.scope)) throw notFound('memory', id);
  return known;
}

async function stats({ overview }: Ledger, tenant: TenantId) {
  const [batches, memories, usage, owners, outbox] = await Promise.all([
    overview.batches(tenant),
    overview.memories(tenant),
    overview.usage(tenant),
    overview.ownerCount(tenant),
    overview.outbox(),
  ]);
  return {
    batches: { ...batches, gap: gapOf(batches) },
    memories,
    owners,
    outbox,
    usage: {
      calls: usage.calls,
      failed_calls: usage.failedCalls,
      prompt_tokens: usage.promptTokens,
      completion_tokens: usage.completionTokens,
    },
  };
}

function gapOf({ accepted, ...outcomes }: BatchCounts): number {
  return accepted - Object.values(outcomes).reduce((sum, count) => sum + count, 0);
}

/** A found version; the index has all fields, so the ledger is not needed. */
export const hitView = (point: IndexHit['point']): MemoryView => ({
  id: point.memoryId,
  ...scopeView(point.scope),
  memory: point.text,
  version: point.version,
  metadata: point.metadata,
  categories: point.category === null ? [] : [point.category],
  immutable: point.immutable,
  trust: point.trust,
  flagged: point.flagged,
  ...(point.concluded !== undefined && { conclusion: conclusionView(point.concluded) }),
  ...(point.skill !== undefined && { skill: point.skill }),
  said_at: isoOf(point.saidAt.at),
  valid_from: isoOf(point.validFrom),
  ...(point.utcOffset !== undefined && { utc_offset: point.utcOffset }),
  invalid_at: isoOrNull(point.invalidAt),
  expires_at: isoOrNull(point.expiresAt),
  confirmations: point.confirmations,
  created_at: isoOf(point.createdAt),
  updated_at: isoOf(point.updatedAt),
});

export const sourceView = (message: Message, isSource: boolean): z.infer<typeof SourceView> => ({
  ...saidView(message),
  is_source: isSource,
});

/** A message near one that is asked for. */
export function nearView(message: Message, isAsked: boolean): z.infer<typeof MessageList>['results'][number] {
  return { ...saidView(message), is_asked: isAsked };
}

/** A found message: like a source, with its scope. */
export function messageHitView(message: Message, scope: Scope): Omit<z.infer<typeof MessageHit>, 'score' | 'scores'> {
  return { ...scopeView(scope), ...saidView(message) };
}

/** Events with who said what they came from. */
export const historyView =
  (speakers: ReadonlyMap<string, Speaker>) =>
  (event: MemoryEvent): HistoryEvent => ({
    id: event.id,
    memory_id: event.memoryId,
    event: event.kind,
    version: event.revision,
    previous: event.previous,
    memory: event.text,
    reason: event.reason,
    actor: event.actor,
    consolidation_id: event.consolidationId,
    retracts: [...(event.retraction?.retracts ?? [])],
    undo_id: event.retraction?.undoId ?? null,
    ...(event.rated !== undefined && { rated: event.rated }),
    sources: event.sourceIds.flatMap((id) => {
      const speaker = speakers.get(id);
      return speaker === undefined ? [] : [{ message_id: id, role: speaker.role, name: speaker.name }];
    }),
    said_at: isoOf(event.saidAt.at),
    created_at: isoOf(event.recordedAt),
  });

/** Who said what events came from. */
export const speakersOf = (
  { ledger }: Pick<SearchDeps, 'ledger'>,
  tenant: TenantId,
  events: readonly MemoryEvent[],
): Promise<ReadonlyMap<string, Speaker>> => {
  const ids = [...new Set(events.flatMap(({ sourceIds }) => sourceIds))];
  return ids.length === 0 ? Promise.resolve(new Map()) : ledger.memories.speakers(tenant, ids);
};

const userView = ({ owner, ...summary }: OwnerSummary): z.infer<typeof UserView> => ({
  kind: owner.kind,
  id: owner.id,
  memories: summary.memories,
  pending: summary.pending,
  created_at: isoOf(summary.createdAt),
  updated_at: isoOf(summary.updatedAt),
});

export const relationHitView = (relation: FoundRelation): z.infer<typeof RelationHit> => ({
  ...relationCore(relation),
  score: relation.score,
});

const usedView = ({ kind, id, memories, first, last }: UsedId): UsedIdView => ({
  kind,
  id,
  memories,
  first_said_at: isoOf(first),
  last_said_at: isoOf(last),
});

interface Asked {
  readonly tenant: TenantId;
  readonly named: NamedIds;
  readonly now: Millis;
  readonly where: Filter | null;
}

/** A filter only thins a page out: it may be true of few of very many. */
async function saidUnder(ledger: Ledger, { tenant, where, ...asked }: Asked, page: Page): Promise<Paged<Memory>> {
  const read = await ledger.saidIds.memories(tenant, asked, page);
  return {
    ...read,
    results: read.results.filter((memory) => where === null || matches(where, filterableOf(memory))),
  };
}
