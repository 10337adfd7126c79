import { PostWebhook, WebhookWithSecret } from '@slowwave/contracts';
import type { NewWebhook, TenantId } from '@slowwave/engine';
import { type App, concerns, problem, requestTenant } from '@slowwave/http';
import type { z } from 'zod';
import type { ConsoleDeps } from '../deps.ts';
import { allowedUrl } from './allowed-url.ts';
import { webhookView } from './view.ts';

const schema = {
  operationId: 'postWebhook',
  tags: ['webhooks'],
  summary: 'Create a webhook for events of batches and memories',
  description:
    'Every event is posted at least once, signed with the secret, which is only returned in this response. See ' +
    'docs/webhooks.md for the payload, how to verify the signature, and what happens if the receiver is down.',
  body: PostWebhook,
  response: { 201: WebhookWithSecret },
};

export function postWebhook(app: App, deps: ConsoleDeps): void {
  app.post('/v1/webhooks', { schema }, async (request, reply) => {
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
