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
  deletedAt,
  type Ledger,
  liveVersion,
  type Memory,
  memoryView,
  scopeOf,
  shownVersion,
  type TenantId,
} from '@slowwave/engine';
import {
  type FastifyRequest,
  IdParams,
  listed,
  mayKnow,
  notFound,
  pageOf,
  problem,
  requestTenant,
} from '@slowwave/http';
import { z } from 'zod';
import { routesOf } from './deps.ts';
import { filterIn } from './question.ts';
import { historyView, sourceView, userView } from './views.ts';

const route = routesOf('memories');

/** What the ledger has, read without a query. */
export const memoryRoutes = [
  route('GET /v1/memories', {
    id: 'listMemories',
    summary: "List an owner's memories, newest first",
    description:
      'The owner is the first of user_id, agent_id and run_id that is set; the other ids only filter. Returns the ' +
      'current version of each memory, as in search results; filters apply to the latest version.',
    query: ListMemoriesQuery,
    answer: MemoryList,
    bounds: { by: 'query', apps: true },
    handle: async ({ ledger, tools }, { tenant, query }) => {
      const [scope, now, page] = [scopeOf(query), tools.now(), pageOf(query)];
      const where = filterIn(query.filters);
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
    handle: async ({ ledger }, { tenant, params, query, request }) => {
      const { id } = await existing(ledger, request, params.id);
      return listed(await ledger.memories.history(tenant, id, pageOf(query)), historyView);
    },
  }),
  route('GET /v1/memories/:id/sources', {
    id: 'getSources',
    summary: 'Get the messages a memory came from, optionally with their neighbours',
    params: IdParams,
    query: SourcesQuery,
    answer: SourceList,
    bounds: { by: 'found', apps: false },
    handle: async ({ ledger }, { tenant, params, query, request }) => {
      const { id } = await existing(ledger, request, params.id);
      const sources = await ledger.memories.sources(tenant, id, query);
      return { results: sources.map(({ message, isSource }) => sourceView(message, isSource)), next_cursor: null };
    },
  }),
  route('GET /v1/users', {
    id: 'listUsers',
    summary: 'List the users, agents and runs that own memories or have waiting batches',
    query: ListUsersQuery,
    answer: UserList,
    handle: async ({ ledger }, { tenant, query }) =>
      listed(await ledger.overview.owners(tenant, pageOf(query)), userView),
  }),
  route('GET /v1/stats', {
    id: 'getStats',
    summary: 'Get counts, and check that they add up',
    description: 'batches.gap is accepted minus all other counts; any value other than 0 is a defect.',
    answer: StatsView,
    handle: async ({ ledger }, { tenant }) => stats(ledger, tenant),
  }),
];

/** A memory that who asks may know of, deleted or not. */
async function existing(ledger: Ledger, request: FastifyRequest, id: string): Promise<Memory> {
  const memory = await ledger.memories.get(requestTenant(request) as TenantId, id);
  if (memory === null || !mayKnow(request, memory.scope)) throw notFound('memory', id);
  return memory;
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
