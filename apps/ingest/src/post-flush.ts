import { FlushView, PostFlush } from '@slowwave/contracts';
import { ownerOf, scopeOf, type TenantId } from '@slowwave/engine';
import { type App, requestTenant } from '@slowwave/http';
import type { IngestDeps } from './deps.ts';
import { scheduleTurns } from './schedule-turns.ts';

const schema = {
  operationId: 'flush',
  tags: ['ingest'],
  summary: "Make an owner's waiting batches due now",
  description: 'The owner is the first given of user_id, agent_id, run_id.',
  body: PostFlush,
  response: { 200: FlushView },
};

export function postFlush(app: App, deps: IngestDeps): void {
  app.post('/v1/flush', { schema, config: { bounds: { by: 'body', apps: false } } }, async (request) => {
    const owner = ownerOf(scopeOf(request.body));
    const tenant = requestTenant(request) as TenantId;
    const { pending, nudge } = await deps.ledger.lanes.flush(tenant, owner, deps.tools.now());
    if (nudge !== null) scheduleTurns(deps, [nudge]);
    return { pending };
  });
}
