import { BatchList, ListBatchesQuery } from '@slowwave/contracts';
import type { TenantId } from '@slowwave/engine';
import { type App, listed, pageOf, requestTenant } from '@slowwave/http';
import type { IngestDeps } from './deps.ts';
import { batchSummary } from './views.ts';

const schema = {
  operationId: 'listBatches',
  tags: ['ingest'],
  summary: 'List batches, newest first',
  querystring: ListBatchesQuery,
  response: { 200: BatchList },
};

export function listBatches(app: App, { ledger }: IngestDeps): void {
  app.get('/v1/batches', { schema, config: { bounds: { by: 'query', apps: false } } }, async (request) => {
    const { state, user_id, since } = request.query;
    const filter = {
      ...(state !== undefined && { state }),
      ...(user_id !== undefined && { userId: user_id }),
      ...(since !== undefined && { since: Date.parse(since) }),
    };
    const page = await ledger.batches.list(requestTenant(request) as TenantId, filter, pageOf(request.query));
    return listed(page, batchSummary);
  });
}
