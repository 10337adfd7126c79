import {
  DeliveryList,
  type DeliveryView,
  ListDeliveriesQuery,
  PageQuery,
  PatchWebhook,
  PostWebhook,
  Replayed,
  WebhookList,
  WebhookView,
  WebhookWithSecret,
} from '@slowwave/contracts';
import {
  type Delivery,
  EngineError,
  isoOf,
  isoOrNull,
  type NewWebhook,
  type TenantId,
  type Webhook,
  type WebhookChanges,
} from '@slowwave/engine';
import { type App, concerns, IdParams, listed, notFound, pageOf, problem, requestTenant } from '@slowwave/http';
import { z } from 'zod';
import type { ConsoleDeps } from './deps.ts';

/** Who is told of what happens to batches and memories. */
export function webhookRoutes(app: App, deps: ConsoleDeps): void {
  postWebhook(app, deps);
  listWebhooks(app, deps);
  getWebhook(app, deps);
  patchWebhook(app, deps);
  deleteWebhook(app, deps);
  listDeliveries(app, deps);
  replayFailed(app, deps);
  replayDelivery(app, deps);
}

const postWebhookSchema = {
  operationId: 'postWebhook',
  tags: ['webhooks'],
  summary: 'Create a webhook for events of batches and memories',
  description:
    'Every event is posted at least once, signed with the secret, which is only returned in this response. See ' +
    'docs/webhooks.md for the payload, how to verify the signature, and what happens if the receiver is down.',
  body: PostWebhook,
  response: { 201: WebhookWithSecret },
};

function postWebhook(app: App, deps: ConsoleDeps): void {
  app.post('/v1/webhooks', { schema: postWebhookSchema }, async (request, reply) => {
    const tenant = requestTenant(request) as TenantId;
    const { webhook, secret } = await createWebhook(deps, tenant, request.body);
    concerns(request, { kind: 'webhook', id: webhook.id });
    return reply.code(201).send({ ...webhook, secret });
  });
}

/** Makes it, active from the next change on. */
async function createWebhook(
  { ledger, tools, webhooks }: ConsoleDeps,
  tenant: TenantId,
  body: z.infer<typeof PostWebhook>,
) {
  const { name, active, user_id: userId = null, app_id: appId = null, secret = webhooks.newSecret() } = body;
  const now = tools.now();
  const made: NewWebhook = {
    ...{ id: tools.id('whk'), tenant, name, active, userId, appId, secret, createdAt: now },
    ...{ url: allowedUrl(webhooks, body.url), events: [...new Set(body.events)] },
  };
  if (!(await ledger.webhooks.create(made, WEBHOOKS_MAX))) throw tooMany();
  const unused = { previous: null, failures: 0, failingSince: null, lastError: null, pausedAt: null };
  return { webhook: webhookView({ ...made, ...unused, updatedAt: now }), secret };
}

/** Of a tenant: every change is noted once for each of them, in the transaction that makes it. */
const WEBHOOKS_MAX = 20;

const tooMany = (): Error =>
  problem(
    'conflict',
    `expected at most ${WEBHOOKS_MAX} webhooks per tenant, got one more; delete one, or share one receiver`,
  );

const listWebhooksSchema = {
  operationId: 'listWebhooks',
  tags: ['webhooks'],
  summary: 'List webhooks, newest first',
  querystring: z.strictObject(PageQuery),
  response: { 200: WebhookList },
};
const getWebhookSchema = {
  operationId: 'getWebhook',
  tags: ['webhooks'],
  summary: 'Get a webhook',
  params: IdParams,
  response: { 200: WebhookView },
};
const deleteWebhookSchema = {
  operationId: 'deleteWebhook',
  tags: ['webhooks'],
  summary: 'Delete a webhook',
  description: 'Also deletes its deliveries, including pending ones. Returns the deleted webhook.',
  params: IdParams,
  response: { 200: WebhookView },
};

function listWebhooks(app: App, { ledger }: ConsoleDeps): void {
  app.get('/v1/webhooks', { schema: listWebhooksSchema }, async (request) =>
    listed(await ledger.webhooks.list(requestTenant(request) as TenantId, pageOf(request.query)), webhookView),
  );
}

function getWebhook(app: App, deps: ConsoleDeps): void {
  app.get('/v1/webhooks/:id', { schema: getWebhookSchema }, async (request) =>
    webhookView(await webhookNamed(deps, requestTenant(request) as TenantId, request.params.id)),
  );
}

function deleteWebhook(app: App, deps: ConsoleDeps): void {
  app.delete('/v1/webhooks/:id', { schema: deleteWebhookSchema }, async (request) => {
    const tenant = requestTenant(request) as TenantId;
    const webhook = await webhookNamed(deps, tenant, request.params.id);
    await deps.ledger.webhooks.remove(tenant, webhook.id);
    return webhookView(webhook);
  });
}

/** The webhook, or a problem. */
async function webhookNamed({ ledger }: ConsoleDeps, tenant: TenantId, id: string) {
  const webhook = await ledger.webhooks.get(tenant, id);
  if (webhook === null) throw notFound('webhook', id);
  return webhook;
}

/** Long enough to bring a new secret to the receiver without haste. */
const GRACE_MS = 24 * 3_600_000;

const patchWebhookSchema = {
  operationId: 'patchWebhook',
  tags: ['webhooks'],
  summary: 'Change, pause or resume a webhook, or replace its secret',
  params: IdParams,
  body: PatchWebhook,
  response: { 200: WebhookWithSecret },
};

function patchWebhook(app: App, deps: ConsoleDeps): void {
  app.patch('/v1/webhooks/:id', { schema: patchWebhookSchema }, async (request) => {
    const tenant = requestTenant(request) as TenantId;
    const { webhook, secret } = await changeWebhook(deps, { tenant, id: request.params.id }, request.body);
    return { ...webhookView(webhook), ...(secret !== undefined && { secret }) };
  });
}

/** The webhook as it is then, and its secret if that was replaced. */
async function changeWebhook(
  { ledger, tools, webhooks }: ConsoleDeps,
  { tenant, id }: { readonly tenant: TenantId; readonly id: string },
  body: z.infer<typeof PatchWebhook>,
) {
  const known = await ledger.webhooks.get(tenant, id);
  if (known === null) throw notFound('webhook', id);
  const now = tools.now();
  const secret = body.rotate_secret === true ? webhooks.newSecret() : body.secret;
  const replaced = secret === undefined ? {} : replacing(known, secret, now);
  const url = body.url === undefined ? {} : { url: allowedUrl(webhooks, body.url) };
  const webhook = await ledger.webhooks.change(tenant, id, { ...fieldsOf(body), ...url, ...replaced }, now);
  if (webhook === null) throw notFound('webhook', id);
  return { webhook, secret };
}

function fieldsOf({ events, name, active, user_id, app_id }: z.infer<typeof PatchWebhook>): WebhookChanges {
  return {
    ...(events !== undefined && { events: [...new Set(events)] }),
    ...(name !== undefined && { name }),
    ...(active !== undefined && { active }),
    ...(user_id !== undefined && { userId: user_id }),
    ...(app_id !== undefined && { appId: app_id }),
  };
}

const replacing = (known: Webhook, secret: string, now: number): WebhookChanges => ({
  secret,
  previous: { secret: known.secret, until: now + GRACE_MS },
});

/** The URL, or the refusal as a problem. What a name leads to is looked at whenever something is sent there. */
function allowedUrl({ check }: ConsoleDeps['webhooks'], url: string): string {
  try {
    check(url);
    return url;
  } catch (error) {
    if (!(error instanceof EngineError)) throw error;
    throw problem('invalid_request', error.message, { errors: [{ path: 'url', message: error.message }] });
  }
}

const listDeliveriesSchema = {
  operationId: 'listDeliveries',
  tags: ['webhooks'],
  summary: 'List the deliveries of a webhook, newest first',
  params: IdParams,
  querystring: ListDeliveriesQuery,
  response: { 200: DeliveryList },
};
const replayFailedSchema = {
  operationId: 'replayFailedDeliveries',
  tags: ['webhooks'],
  summary: 'Retry all failed deliveries',
  params: IdParams,
  response: { 200: Replayed },
};
const replaySchema = {
  operationId: 'replayDelivery',
  tags: ['webhooks'],
  summary: 'Resend a delivery',
  description: 'Uses the same event_id and delivery_id. A pending delivery is not changed.',
  params: z.strictObject({ id: z.string().min(1), delivery_id: z.string().min(1) }),
  response: { 200: Replayed },
};

function listDeliveries(app: App, deps: ConsoleDeps): void {
  app.get('/v1/webhooks/:id/deliveries', { schema: listDeliveriesSchema }, async (request) => {
    const { id, tenant } = await named(deps, request);
    const { state } = request.query;
    const filter = state === undefined ? {} : { state };
    return listed(await deps.ledger.webhooks.deliveries(tenant, id, filter, pageOf(request.query)), deliveryView);
  });
}

function replayFailed(app: App, deps: ConsoleDeps): void {
  app.post('/v1/webhooks/:id/deliveries/replay', { schema: replayFailedSchema }, async (request) => {
    const { id, tenant } = await named(deps, request);
    return { replayed: await deps.ledger.webhooks.replay(tenant, id, 'failed', deps.tools.now()) };
  });
}

function replayDelivery(app: App, deps: ConsoleDeps): void {
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

/** A webhook without what it is signed with. */
const webhookView = (webhook: Webhook): z.infer<typeof WebhookView> => ({
  id: webhook.id,
  name: webhook.name,
  url: webhook.url,
  events: [...webhook.events],
  user_id: webhook.userId,
  app_id: webhook.appId,
  active: webhook.active,
  created_at: isoOf(webhook.createdAt),
  updated_at: isoOf(webhook.updatedAt),
  failures: webhook.failures,
  failing_since: isoOrNull(webhook.failingSince),
  last_error: webhook.lastError,
  paused_at: isoOrNull(webhook.pausedAt),
  previous_secret_until: isoOrNull(webhook.previous?.until ?? null),
});

const deliveryView = (delivery: Delivery): z.infer<typeof DeliveryView> => ({
  id: delivery.id,
  event_id: delivery.eventId,
  type: delivery.type,
  state: delivery.state,
  attempts: delivery.attempts,
  next_attempt_at: delivery.state === 'waiting' ? isoOf(delivery.dueAt) : null,
  created_at: isoOf(delivery.createdAt),
  ended_at: isoOrNull(delivery.endedAt),
  last_status: delivery.status,
  last_error: delivery.error,
  body: JSON.parse(delivery.body),
});
