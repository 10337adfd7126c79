import { ConsolidationList, ListConsolidationsQuery } from '@slowwave/contracts';
import type { TenantId } from '@slowwave/engine';
import { type App, type Bounds, listed, pageOf, requestTenant } from '@slowwave/http';
import type { ConsoleDeps } from './deps.ts';
import { consolidationSummary } from './views/consolidation.ts';

const schema = {
  operationId: 'listConsolidations',
  tags: ['manage'],
  summary: 'List consolidations, newest first',
  querystring: ListConsolidationsQuery,
  response: { 200: ConsolidationList },
};

const bounds: Bounds = { by: 'query', apps: false };

export function listConsolidations(app: App, { ledger }: ConsoleDeps): void {
  app.get('/v1/consolidations', { schema, config: { bounds } }, async (request) => {
    const { state, user_id } = request.query;
    const filter = { ...(state !== undefined && { state }), ...(user_id !== undefined && { userId: user_id }) };
    const page = await ledger.thoughts.list(requestTenant(request) as TenantId, filter, pageOf(request.query));
    return listed(page, consolidationSummary);
  });
}
