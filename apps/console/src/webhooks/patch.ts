import { PatchWebhook, WebhookWithSecret } from '@slowwave/contracts';
import type { TenantId, Webhook, WebhookChanges } from '@slowwave/engine';
import { type App, IdParams, notFound, requestTenant } from '@slowwave/http';
import type { z } from 'zod';
import type { ConsoleDeps } from '../deps.ts';
import { allowedUrl } from './allowed-url.ts';
import { webhookView } from './view.ts';

/** Long enough to bring a new secret to the receiver without haste. */
const GRACE_MS = 24 * 3_600_000;

const schema = {
  operationId: 'patchWebhook',
  tags: ['webhooks'],
  summary: 'Change, pause or resume a webhook, or replace its secret',
  params: IdParams,
  body: PatchWebhook,
  response: { 200: WebhookWithSecret },
};

export function patchWebhook(app: App, deps: ConsoleDeps): void {
  app.patch('/v1/webhooks/:id', { schema }, async (request) => {
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
