import { DeliveryList, ListDeliveriesQuery, Replayed } from '@slowwave/contracts';
import type { TenantId } from '@slowwave/engine';
import { type App, IdParams, listed, notFound, pageOf, requestTenant } from '@slowwave/http';
import { z } from 'zod';
import type { ConsoleDeps } from '../deps.ts';
import { webhookNamed } from './known.ts';
import { deliveryView } from './view.ts';

const tags = ['webhooks'];
const listSchema = {
  operationId: 'listDeliveries',
  tags,
  summary: 'List the deliveries of a webhook, newest first',
  params: IdParams,
  querystring: ListDeliveriesQuery,
  response: { 200: DeliveryList },
};
const replayFailedSchema = {
  operationId: 'replayFailedDeliveries',
  tags,
  summary: 'Retry all failed deliveries',
  params: IdParams,
  response: { 200: Replayed },
};
const replaySchema = {
  operationId: 'replayDelivery',
  tags,
  summary: 'Resend a delivery',
  description: 'Uses the same event_id and delivery_id. A pending delivery is not changed.',
  params: z.strictObject({ id: z.string().min(1), delivery_id: z.string().min(1) }),
  response: { 200: Replayed },
};

export function listDeliveries(app: App, deps: ConsoleDeps): void {
  app.get('/v1/webhooks/:id/deliveries', { schema: listSchema }, async (request) => {
    const { id, tenant } = await named(deps, request);
    const { state } = request.query;
    const filter = state === undefined ? {} : { state };
    return listed(await deps.ledger.webhooks.deliveries(tenant, id, filter, pageOf(request.query)), deliveryView);
  });
}

export function replayFailed(app: App, deps: ConsoleDeps): void {
  app.post('/v1/webhooks/:id/deliveries/replay', { schema: replayFailedSchema }, async (request) => {
    const { id, tenant } = await named(deps, request);
    return { replayed: await deps.ledger.webhooks.replay(tenant, id, 'failed', deps.tools.now()) };
  });
}

export function replayDelivery(app: App, deps: ConsoleDeps): void {
  app.post('/v1/webhooks/:id/deliveries/:delivery_id/replay', { schema: replaySchema }, async (request) => {
    const { id, tenant } = await named(deps, request);
    const which = { id: request.params.delivery_id };
    const replayed = await deps.ledger.webhooks.replay(tenant, id, which, deps.tools.now());
    if (replayed === 0) throw notFound('delivery that has ended', which.id);
    return { replayed };
  });
}

const named = (deps: ConsoleDeps, request: Parameters<typeof requestTenant>[0]) =>
  webhookNamed(deps, requestTenant(request) as TenantId, (request.params as { readonly id: string }).id);
