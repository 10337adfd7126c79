import { z } from 'zod';
import { ExternalId, listOf, PageQuery } from './common.ts';
import { WEBHOOK_PATCHES, WEBHOOKS } from './examples.ts';

const NAME_MAX = 100;
const URL_MAX = 2_048;
const SECRET_MIN = 16;
const SECRET_MAX = 256;

const WebhookEventType = z.enum([
  'batch.consolidated',
  'batch.parked',
  'memory.added',
  'memory.updated',
  'memory.deleted',
  'attack.detected',
  'memory.retracted',
  'relation.retracted',
  'canary.step',
  'canary.halted',
  'canary.undone',
  'canary.promoted',
  'budget.rung',
  'use.held',
  'night.applied',
  'night.waits',
]);

const Fields = {
  url: z
    .string()
    .min(1)
    .max(URL_MAX)
    .describe('A public https URL, unless the operator lists its host in SLOWWAVE_ALLOW_PRIVATE_URLS.'),
  events: z.array(WebhookEventType).min(1).describe('The events to deliver.'),
  name: z.string().trim().max(NAME_MAX).describe('A display name.'),
  active: z.boolean().describe('false: no events are recorded or sent.'),
};

const Secret = z
  .string()
  .min(SECRET_MIN)
  .max(SECRET_MAX)
  .regex(/^[\x21-\x7e]+$/, 'must be printable ASCII without spaces')
  .describe('The secret that deliveries are signed with.');

export const PostWebhook = z
  .strictObject({
    ...Fields,
    name: Fields.name.default(''),
    active: Fields.active.default(true),
    secret: Secret.optional().describe('The secret that deliveries are signed with. Generated if omitted.'),
    user_id: ExternalId.optional().describe('Only events of this user.'),
    app_id: ExternalId.optional().describe('Only events of this app.'),
  })
  .meta({ id: 'PostWebhook', examples: WEBHOOKS });

export const PatchWebhook = z
  .strictObject({
    url: Fields.url.optional(),
    events: Fields.events.optional(),
    name: Fields.name.optional(),
    active: Fields.active.optional().describe('true also ends a pause and resets the failure count.'),
    secret: Secret.optional().describe(
      'Replaces the secret. Deliveries are also signed with the previous one for 24 hours.',
    ),
    rotate_secret: z
      .literal(true)
      .optional()
      .describe('true: generate a new secret. Deliveries are also signed with the previous one for 24 hours.'),
    user_id: ExternalId.nullable().optional(),
    app_id: ExternalId.nullable().optional(),
  })
  .refine(({ secret, rotate_secret }) => secret === undefined || rotate_secret === undefined, {
    path: ['rotate_secret'],
    message: 'expected secret or rotate_secret, got both; send one of them',
  })
  .meta({ id: 'PatchWebhook', examples: WEBHOOK_PATCHES });

export const WebhookView = z
  .object({
    id: z.string(),
    name: z.string(),
    url: z.string(),
    events: z.array(WebhookEventType),
    user_id: z.string().nullable(),
    app_id: z.string().nullable(),
    active: z.boolean(),
    created_at: z.string(),
    updated_at: z.string(),
    failures: z.int().describe('Failed attempts since the last success.'),
    failing_since: z.string().nullable(),
    last_error: z.string().nullable(),
    paused_at: z.string().nullable().describe('When it was paused after failing for three days.'),
    previous_secret_until: z
      .string()
      .nullable()
      .describe('Until when deliveries are also signed with the previous secret.'),
  })
  .meta({ id: 'Webhook' });

export const WebhookWithSecret = WebhookView.extend({
  secret: z.string().optional().describe('Returned only when it is created or replaced.'),
}).meta({ id: 'WebhookWithSecret' });

export const WebhookList = listOf(WebhookView).meta({ id: 'WebhookList' });

const DeliveryState = z.enum(['waiting', 'delivered', 'failed']);

export const ListDeliveriesQuery = z.strictObject({ state: DeliveryState.optional(), ...PageQuery });

export const DeliveryView = z
  .object({
    id: z.string(),
    event_id: z.string(),
    type: WebhookEventType,
    state: DeliveryState,
    attempts: z.int(),
    next_attempt_at: z.string().nullable(),
    created_at: z.string(),
    ended_at: z.string().nullable(),
    last_status: z.int().nullable().describe('The HTTP status of the last response.'),
    last_error: z.string().nullable(),
    body: z.record(z.string(), z.json()).describe('The body that is sent, without the delivery_id.'),
  })
  .meta({ id: 'Delivery' });

export const DeliveryList = listOf(DeliveryView).meta({ id: 'DeliveryList' });

export const Replayed = z.object({ replayed: z.int() }).meta({ id: 'ReplayedDeliveries' });
