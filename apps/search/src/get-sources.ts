import { SourceList, SourcesQuery } from '@slowwave/contracts';
import type { TenantId } from '@slowwave/engine';
import { type App, IdParams, requestTenant } from '@slowwave/http';
import type { SearchDeps } from './deps.ts';
import { existing } from './existing.ts';
import { sourceView } from './views.ts';

const schema = {
  operationId: 'getSources',
  tags: ['memories'],
  summary: 'Get the messages a memory came from, optionally with their neighbours',
  params: IdParams,
  querystring: SourcesQuery,
  response: { 200: SourceList },
};

export function getSources(app: App, { ledger }: SearchDeps): void {
  app.get('/v1/memories/:id/sources', { schema, config: { bounds: { by: 'found', apps: false } } }, async (request) => {
    const tenant = requestTenant(request) as TenantId;
    const { id } = await existing(ledger, request, request.params.id);
    const sources = await ledger.memories.sources(tenant, id, request.query);
    return { results: sources.map(({ message, isSource }) => sourceView(message, isSource)), next_cursor: null };
  });
}
