import type { DeliveryView, WebhookView } from '@slowwave/contracts';
import { type Delivery, isoOf, isoOrNull, type Webhook } from '@slowwave/engine';
import type { z } from 'zod';

/** A webhook without what it is signed with. */
export const webhookView = (webhook: Webhook): z.infer<typeof WebhookView> => ({
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

export const deliveryView = (delivery: Delivery): z.infer<typeof DeliveryView> => ({
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
