import { PageQuery, WebhookList, WebhookView } from '@slowwave/contracts';
import type { TenantId } from '@slowwave/engine';
import { type App, IdParams, listed, notFound, pageOf, requestTenant } from '@slowwave/http';
import { z } from 'zod';
import type { ConsoleDeps } from '../deps.ts';
import { webhookView } from './view.ts';

const tags = ['webhooks'];
const listSchema = {
  operationId: 'listWebhooks',
  tags,
  summary: 'List webhooks, newest first',
  querystring: z.strictObject(PageQuery),
  response: { 200: WebhookList },
};
const getSchema = {
  operationId: 'getWebhook',
  tags,
  summary: 'A webhook',
  params: IdParams,
  response: { 200: WebhookView },
};
const deleteSchema = {
  operationId: 'deleteWebhook',
  tags,
  summary: 'Delete a webhook',
  description: 'Also deletes its deliveries, including pending ones. Returns the deleted webhook.',
  params: IdParams,
  response: { 200: WebhookView },
};

export function listWebhooks(app: App, { ledger }: ConsoleDeps): void {
  app.get('/v1/webhooks', { schema: listSchema }, async (request) =>
    listed(await ledger.webhooks.list(requestTenant(request) as TenantId, pageOf(request.query)), webhookView),
  );
}

export function getWebhook(app: App, deps: ConsoleDeps): void {
  app.get('/v1/webhooks/:id', { schema: getSchema }, async (request) =>
    webhookView(await webhookNamed(deps, requestTenant(request) as TenantId, request.params.id)),
  );
}

export function deleteWebhook(app: App, deps: ConsoleDeps): void {
  app.delete('/v1/webhooks/:id', { schema: deleteSchema }, async (request) => {
    const tenant = requestTenant(request) as TenantId;
    const webhook = await webhookNamed(deps, tenant, request.params.id);
    await deps.ledger.webhooks.remove(tenant, webhook.id);
    return webhookView(webhook);
  });
}

/** The webhook, or a problem. */
export async function webhookNamed({ ledger }: ConsoleDeps, tenant: TenantId, id: string) {
  const webhook = await ledger.webhooks.get(tenant, id);
  if (webhook === null) throw notFound('webhook', id);
  return webhook;
}
