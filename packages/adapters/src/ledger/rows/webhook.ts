import type { Delivery, DeliveryState, TenantId, Webhook, WebhookEvent } from '@slowwave/engine';

/** A webhook as it is stored. */
export interface WebhookRow {
  readonly id: string;
  readonly tenant: TenantId;
  readonly name: string;
  readonly url: string;
  readonly events: string;
  readonly user_id: string | null;
  readonly app_id: string | null;
  readonly active: number;
  readonly secret: string;
  readonly previous_secret: string | null;
  readonly previous_until: number | null;
  readonly created_at: number;
  readonly updated_at: number;
  readonly failures: number;
  readonly failing_since: number | null;
  readonly last_error: string | null;
  readonly paused_at: number | null;
}

export const webhookFrom = (row: WebhookRow): Webhook => ({
  id: row.id,
  tenant: row.tenant,
  name: row.name,
  url: row.url,
  events: row.events.split(' ') as WebhookEvent[],
  userId: row.user_id,
  appId: row.app_id,
  active: row.active === 1,
  secret: row.secret,
  previous:
    row.previous_secret === null || row.previous_until === null
      ? null
      : { secret: row.previous_secret, until: row.previous_until },
  createdAt: row.created_at,
  updatedAt: row.updated_at,
  failures: row.failures,
  failingSince: row.failing_since,
  lastError: row.last_error,
  pausedAt: row.paused_at,
});

/** A delivery as it is stored. */
export interface DeliveryRow {
  readonly seq: number;
  readonly id: string;
  readonly webhook: string;
  readonly event_id: string;
  readonly type: WebhookEvent;
  readonly body: string;
  readonly state: DeliveryState;
  readonly attempts: number;
  readonly attempts_before: number;
  readonly due_at: number;
  readonly created_at: number;
  readonly ended_at: number | null;
  readonly status: number | null;
  readonly error: string | null;
}

export const deliveryFrom = (row: DeliveryRow): Delivery => ({
  id: row.id,
  webhookId: row.webhook,
  eventId: row.event_id,
  type: row.type,
  state: row.state,
  attempts: row.attempts,
  tries: row.attempts - row.attempts_before,
  dueAt: row.due_at,
  createdAt: row.created_at,
  endedAt: row.ended_at,
  status: row.status,
  error: row.error,
  body: row.body,
});
