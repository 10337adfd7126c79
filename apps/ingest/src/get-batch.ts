import { BatchView, WaitQuery } from '@slowwave/contracts';
import type { Scope, TenantId } from '@slowwave/engine';
import { type App, IdParams, isForOneApp, mayKnow, requestTenant, waitSignal } from '@slowwave/http';
import type { IngestDeps } from './deps.ts';
import { outcome } from './watch-batch.ts';

const schema = {
  operationId: 'getBatch',
  tags: ['ingest'],
  summary: 'Get the state of a batch',
  description: 'With wait, the response is sent once the batch is done or the time is up.',
  params: IdParams,
  querystring: WaitQuery.strict(),
  response: { 200: BatchView },
};

export function getBatch(app: App, { ledger }: IngestDeps): void {
  app.get('/v1/batches/:id', { schema, config: { bounds: { by: 'found', apps: true } } }, async (request, reply) => {
    const key = {
      tenant: requestTenant(request) as TenantId,
      id: request.params.id,
      mayKnow: (scope: Scope) => mayKnow(request, scope),
      bound: isForOneApp(request),
    };
    return outcome(ledger, key, { waitMs: request.query.wait, signal: waitSignal(reply) });
  });
}
