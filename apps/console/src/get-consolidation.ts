import { ConsolidationView } from '@slowwave/contracts';
import type { TenantId } from '@slowwave/engine';
import { type App, IdParams, notFound, requestTenant } from '@slowwave/http';
import type { ConsoleDeps } from './deps.ts';
import { consolidationView } from './views/consolidation.ts';

const schema = {
  operationId: 'getConsolidation',
  tags: ['manage'],
  summary: 'Get a consolidation: what it read, decided and changed, and its cost',
  params: IdParams,
  response: { 200: ConsolidationView },
};

export function getConsolidation(app: App, { ledger }: ConsoleDeps): void {
  app.get('/v1/consolidations/:id', { schema }, async (request) => {
    const { id } = request.params;
    const consolidation = await ledger.thoughts.get(requestTenant(request) as TenantId, id);
    if (consolidation === null) throw notFound('consolidation', id);
    const [plan, answers] = await Promise.all([ledger.thoughts.plan(id), ledger.thoughts.answers(id)]);
    return consolidationView(consolidation, plan, answers);
  });
}
