import { ListMemoriesQuery, MemoryList } from '@slowwave/contracts';
import { type Memory, memoryView, scopeOf, shownVersion, type TenantId } from '@slowwave/engine';
import { type App, listed, pageOf, requestTenant } from '@slowwave/http';
import type { SearchDeps } from './deps.ts';
import { filterIn } from './filters.ts';

const schema = {
  operationId: 'listMemories',
  tags: ['memories'],
  summary: "List an owner's memories, newest first",
  description:
    'The owner is the first of user_id, agent_id and run_id that is set; the other ids only filter. Returns the ' +
    'current version of each memory, as in search results; filters apply to the latest version.',
  querystring: ListMemoriesQuery,
  response: { 200: MemoryList },
};

export function listMemories(app: App, { ledger, tools }: SearchDeps): void {
  app.get('/v1/memories', { schema, config: { bounds: { by: 'query', apps: true } } }, async (request) => {
    const tenant = requestTenant(request) as TenantId;
    const [scope, now, page] = [scopeOf(request.query), tools.now(), pageOf(request.query)];
    const where = filterIn(request.query.filters);
    const memories =
      where === null
        ? await ledger.memories.list(tenant, scope, now, page)
        : await ledger.filtered.list(tenant, { scope, now, where }, page);
    return listed(memories, (memory: Memory) => memoryView(memory, shownVersion(memory, now)));
  });
}
