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
  type App,
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
import type { SearchDeps } from './deps.ts';
import { filterIn } from './question.ts';
import { historyView, sourceView, userView } from './views.ts';

/** What the ledger has, read without a query. */
export function memoryRoutes(app: App, deps: SearchDeps): void {
  listMemories(app, deps);
  getMemory(app, deps);
  getHistory(app, deps);
  getSources(app, deps);
  listUsers(app, deps);
  getStats(app, deps);
}

const listMemoriesSchema = {
  operationId: 'listMemories',
  tags: ['memories'],
  summary: "List an owner's memories, newest first",
  description:
    'The owner is the first of user_id, agent_id and run_id that is set; the other ids only filter. Returns the ' +
    'current version of each memory, as in search results; filters apply to the latest version.',
  querystring: ListMemoriesQuery,
  response: { 200: MemoryList },
};

function listMemories(app: App, { ledger, tools }: SearchDeps): void {
  app.get(
    '/v1/memories',
    { schema: listMemoriesSchema, config: { bounds: { by: 'query', apps: true } } },
    async (request) => {
      const tenant = requestTenant(request) as TenantId;
      const [scope, now, page] = [scopeOf(request.query), tools.now(), pageOf(request.query)];
      const where = filterIn(request.query.filters);
      const memories =
        where === null
          ? await ledger.memories.list(tenant, scope, now, page)
          : await ledger.filtered.list(tenant, { scope, now, where }, page);
      return listed(memories, (memory: Memory) => memoryView(memory, shownVersion(memory, now)));
    },
  );
}

const getMemorySchema = {
  operationId: 'getMemory',
  tags: ['memories'],
  summary: 'Get a memory',
  description:
    'Returns its current version, as in search results. A change that takes effect later is only in the ' +
    'history until then.',
  params: IdParams,
  response: { 200: MemoryView },
};

function getMemory(app: App, { ledger, tools }: SearchDeps): void {
  app.get(
    '/v1/memories/:id',
    { schema: getMemorySchema, config: { bounds: { by: 'found', apps: true } } },
    async (request) => {
      const { id } = request.params;
      const memory = await existing(ledger, request, id);
      if (liveVersion(memory) !== null) return memoryView(memory, shownVersion(memory, tools.now()));
      const what = deletedAt(memory) === null ? 'undone' : 'deleted';
      throw problem('not_found', `memory ${id} was ${what}; see /v1/memories/${id}/history`);
    },
  );
}

const getHistorySchema = {
  operationId: 'getHistory',
  tags: ['memories'],
  summary: 'Get the history of a memory, oldest event first',
  params: IdParams,
  querystring: z.strictObject(PageQuery),
  response: { 200: History },
};

function getHistory(app: App, { ledger }: SearchDeps): void {
  app.get(
    '/v1/memories/:id/history',
    { schema: getHistorySchema, config: { bounds: { by: 'found', apps: true } } },
    async (request) => {
      const tenant = requestTenant(request) as TenantId;
      const { id } = await existing(ledger, request, request.params.id);
      return listed(await ledger.memories.history(tenant, id, pageOf(request.query)), historyView);
    },
  );
}

const getSourcesSchema = {
  operationId: 'getSources',
  tags: ['memories'],
  summary: 'Get the messages a memory came from, optionally with their neighbours',
  params: IdParams,
  querystring: SourcesQuery,
  response: { 200: SourceList },
};

function getSources(app: App, { ledger }: SearchDeps): void {
  app.get(
    '/v1/memories/:id/sources',
    { schema: getSourcesSchema, config: { bounds: { by: 'found', apps: false } } },
    async (request) => {
      const tenant = requestTenant(request) as TenantId;
      const { id } = await existing(ledger, request, request.params.id);
      const sources = await ledger.memories.sources(tenant, id, request.query);
      return { results: sources.map(({ message, isSource }) => sourceView(message, isSource)), next_cursor: null };
    },
  );
}

/** A memory that who asks may know of, deleted or not. */
async function existing(ledger: Ledger, request: FastifyRequest, id: string): Promise<Memory> {
  const memory = await ledger.memories.get(requestTenant(request) as TenantId, id);
  if (memory === null || !mayKnow(request, memory.scope)) throw notFound('memory', id);
  return memory;
}

const listUsersSchema = {
  operationId: 'listUsers',
  tags: ['memories'],
  summary: 'List the users, agents and runs that own memories or have waiting batches',
  querystring: ListUsersQuery,
  response: { 200: UserList },
};

function listUsers(app: App, { ledger }: SearchDeps): void {
  app.get('/v1/users', { schema: listUsersSchema }, async (request) => {
    const page = await ledger.overview.owners(requestTenant(request) as TenantId, pageOf(request.query));
    return listed(page, userView);
  });
}

const getStatsSchema = {
  operationId: 'getStats',
  tags: ['memories'],
  summary: 'Get counts, and check that they add up',
  description: 'batches.gap is accepted minus all other counts; any value other than 0 is a defect.',
  response: { 200: StatsView },
};

function getStats(app: App, { ledger }: SearchDeps): void {
  app.get('/v1/stats', { schema: getStatsSchema }, async (request) =>
    stats(ledger, requestTenant(request) as TenantId),
  );
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
