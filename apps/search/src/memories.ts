import {
  History,
  ListMemoriesQuery,
  ListUsersQuery,
  MemoryList,
  MemoryView,
  PageQuery,
  SourceList,
  SourcesQuery,
  StatsView,
  UserList,
} from '@slowwave/contracts';
import {
  type BatchCounts,
  besideOwner,
  deletedAt,
  eventsInApp,
  type Filter,
  filterableOf,
  filterIn,
  idListsOf,
  inApp,
  isUnder,
  type Ledger,
  liveVersion,
  type Memory,
  type MemoryVersion,
  type Message,
  type Millis,
  matches,
  memoryView,
  type Page,
  type Paged,
  quotedIn,
  type Scope,
  scopeOf,
  shownVersion,
  type TenantId,
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
import { routesOf } from './deps.ts';
import { historyView, sourceView, speakersOf, userView } from './views.ts';

const route = routesOf('memories');

/** Reading the ledger without a query. */
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
