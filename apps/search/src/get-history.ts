import { History, PageQuery } from '@slowwave/contracts';
import type { TenantId } from '@slowwave/engine';
import { type App, IdParams, listed, pageOf, requestTenant } from '@slowwave/http';
import { z } from 'zod';
import type { SearchDeps } from './deps.ts';
import { existing } from './existing.ts';
import { historyView } from './views.ts';

const schema = {
  operationId: 'getHistory',
  tags: ['memories'],
  summary: 'Get the history of a memory, oldest event first',
  params: IdParams,
  querystring: z.strictObject(PageQuery),
  response: { 200: History },
};

export function getHistory(app: App, { ledger }: SearchDeps): void {
  app.get('/v1/memories/:id/history', { schema, config: { bounds: { by: 'found', apps: true } } }, async (request) => {
    const tenant = requestTenant(request) as TenantId;
    const { id } = await existing(ledger, request, request.params.id);
    return listed(await ledger.memories.history(tenant, id, pageOf(request.query)), historyView);
  });
}
