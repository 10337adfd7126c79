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
import { concerns, given, IdParams, listed, notFound, pageOf, problem } from '@slowwave/http';
import { z } from 'zod';
import { type ConsoleDeps, routesOf } from './deps.ts';

const route = routesOf('webhooks');

/** Webhooks for events of batches and memories. */
export const webhookRoutes = [
  route('POST /v1/webhooks', {
    id: 'postWebhook',
    summary: 'Create a webhook for events of batches and memories',
    description:
      'Every event is posted at least once, signed with the secret, which is only returned in this response. See ' +
      'docs/webhooks.md for the payload, how to verify the signature, and what happens if the receiver is down.',
    body: PostWebhook,
    answer: { 201: WebhookWithSecret },
    handle: async (deps, { tenant, body, request }) => {
      const { webhook, secret } = await createWebhook(deps, tenant, body);
      concerns(request, { kind: 'webhook', id: webhook.id });
      return { ...webhook, secret };
    },
  }),
  route('GET /v1/webhooks', {
    id: 'listWebhooks',
    summary: 'List webhooks, newest first',
    query: z.strictObject(PageQuery),
    answer: WebhookList,
    handle: async ({ ledger }, { tenant, query }) =>
      listed(await ledger.webhooks.list(tenant, pageOf(query)), webhookView),
  }),
  route('GET /v1/webhooks/:id', {
    id: 'getWebhook',
    summary: 'Get a webhook',
    params: IdParams,
    answer: WebhookView,
    handle: async (deps, { tenant, params }) => webhookView(await webhookNamed(deps, tenant, params.id)),
  }),
  route('PATCH /v1/webhooks/:id', {
    id: 'patchWebhook',
    summary: 'Change, pause or resume a webhook, or replace its secret',
    params: IdParams,
    body: PatchWebhook,
    answer: WebhookWithSecret,
    handle: async (deps, { tenant, params, body }) => {
      const { webhook, secret } = await changeWebhook(deps, { tenant, id: params.id }, body);
      return { ...webhookView(webhook), ...(secret !== undefined && { secret }) };
    },
  }),
  route('DELETE /v1/webhooks/:id', {
    id: 'deleteWebhook',
    summary: 'Delete a webhook',
    description: 'Also deletes its deliveries, including pending ones. Returns the deleted webhook.',
    params: IdParams,
    answer: WebhookView,
    handle: async (deps, { tenant, params }) => {
      const webhook = await webhookNamed(deps, tenant, params.id);
      await deps.ledger.webhooks.remove(tenant, webhook.id);
      return webhookView(webhook);
    },
  }),
  route('GET /v1/webhooks/:id/deliveries', {
    id: 'listDeliveries',
    summary: 'List the deliveries of a webhook, newest first',
    params: IdParams,
    query: ListDeliveriesQuery,
    answer: DeliveryList,
    handle: async (deps, { tenant, params, query }) => {
      const { id } = await webhookNamed(deps, tenant, params.id);
      const filter = given({ state: query.state });
      return listed(await deps.ledger.webhooks.deliveries(tenant, id, filter, pageOf(query)), deliveryView);
    },
  }),
  route('POST /v1/webhooks/:id/deliveries/replay', {
    id: 'replayFailedDeliveries',
    summary: 'Retry all failed deliveries',
    params: IdParams,
    answer: Replayed,
    handle: async (deps, { tenant, params }) => {
      const { id } = await webhookNamed(deps, tenant, params.id);
      return { replayed: await deps.ledger.webhooks.replay(tenant, id, 'failed', deps.tools.now()) };
    },
  }),
  route('POST /v1/webhooks/:id/deliveries/:delivery_id/replay', {
    id: 'replayDelivery',
    summary: 'Resend a delivery',
    description: 'Uses the same event_id and delivery_id. A pending delivery is not changed.',
    params: z.strictObject({ id: z.string().min(1), delivery_id: z.string().min(1) }),
    answer: Replayed,
    handle: async (deps, { tenant, params }) => {
      const { id } = await webhookNamed(deps, tenant, params.id);
      const which = { id: params.delivery_id };
      const replayed = await deps.ledger.webhooks.replay(tenant, id, which, deps.tools.now());
      if (replayed === 0) throw notFound('delivery that has ended', which.id);
      return { replayed };
    },
  }),
];

/** Creates a webhook, which receives all later events. */
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

/** The most webhooks of a tenant: the transaction of every change records an event for each of them. */
const WEBHOOKS_MAX = 20;

const tooMany = (): Error =>
  problem(
    'conflict',
    `expected at most ${WEBHOOKS_MAX} webhooks per tenant, got one more; delete one, or share one receiver`,
  );

/** The webhook, or a problem. */
async function webhookNamed({ ledger }: Pick<ConsoleDeps, 'ledger'>, tenant: TenantId, id: string) {
  const webhook = await ledger.webhooks.get(tenant, id);
  if (webhook === null) throw notFound('webhook', id);
  return webhook;
}

/** How long the previous secret stays valid: enough time to deploy the new one. */
const GRACE_MS = 24 * 3_600_000;

/** The changed webhook, and its secret if it was replaced. */
async function changeWebhook(
  { ledger, tools, webhooks }: ConsoleDeps,
  { tenant, id }: { readonly tenant: TenantId; readonly id: string },
  body: z.infer<typeof PatchWebhook>,
) {
  const known = await webhookNamed({ ledger }, tenant, id);
  const now = tools.now();
  const secret = body.rotate_secret === true ? webhooks.newSecret() : body.secret;
  const replaced = secret === undefined ? {} : replacing(known, secret, now);
  const url = body.url === undefined ? {} : { url: allowedUrl(webhooks, body.url) };
  const webhook = await ledger.webhooks.change(tenant, id, { ...fieldsOf(body), ...url, ...replaced }, now);
  if (webhook === null) throw notFound('webhook', id);
  return { webhook, secret };
}

const fieldsOf = ({ events, name, active, user_id, app_id }: z.infer<typeof PatchWebhook>): WebhookChanges =>
  given({ events: events && [...new Set(events)], name, active, userId: user_id, appId: app_id });

const replacing = (known: Webhook, secret: string, now: number): WebhookChanges => ({
  secret,
  previous: { secret: known.secret, until: now + GRACE_MS },
});

/** The URL, or its refusal as a problem. Host names are resolved and checked with every delivery. */
function allowedUrl({ check }: ConsoleDeps['webhooks'], url: string): string {
  try {
    check(url);
    return url;
  } catch (error) {
    if (!(error instanceof EngineError)) throw error;
    throw problem('invalid_request', error.message, { errors: [{ path: 'url', message: error.message }] });
  }
}

/** A webhook without its secrets. */
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
