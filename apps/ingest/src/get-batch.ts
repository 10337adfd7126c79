import { BatchView, WaitQuery } from '@slowwave/contracts';
import type { TenantId } from '@slowwave/engine';
import { type App, IdParams, requestTenant, waitSignal } from '@slowwave/http';
import type { IngestDeps } from './deps.ts';
import { outcome } from './watch-batch.ts';

const schema = {
  tags: ['ingest'],
  summary: 'What became of a batch',
  description: 'With wait, the answer comes when the batch is done or the time is up.',
  params: IdParams,
  querystring: WaitQuery.strict(),
  response: { 200: BatchView },
};

export function getBatch(app: App, { ledger }: IngestDeps): void {
  app.get('/v1/batches/:id', { schema }, async (request, reply) => {
    const key = { tenant: requestTenant(request) as TenantId, id: request.params.id };
    return outcome(ledger, key, { waitMs: request.query.wait, signal: waitSignal(reply) });
  });
}
