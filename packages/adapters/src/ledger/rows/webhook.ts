import type {
  Attempted,
  Delivery,
  DeliveryState,
  NewWebhook,
  Notice,
  TenantId,
  Webhook,
  WebhookChanges,
  WebhookEvent,
  WebhookStore,
} from '@slowwave/engine';
import { deliveryIdOf } from '@slowwave/engine/storing';

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

export const webhookColumns = ({ events, active, ...webhook }: NewWebhook) => ({
  ...webhook,
  events: events.join(' '),
  active: active ? 1 : 0,
});

/** The webhook with what changes, as parameters of CHANGE_WEBHOOK. */
export function changedColumns(webhook: Webhook, changes: WebhookChanges, now: number) {
  const { id, tenant, name, url, events, userId, appId, active, secret, previous } = { ...webhook, ...changes };
  const previousSecret = previous?.secret ?? null;
  const columns = { id, tenant, name, url, userId, appId, secret, previousSecret, now };
  const previousUntil = previous?.until ?? null;
  const fresh = changes.active === true ? 1 : 0;
  return { ...columns, previousUntil, events: events.join(' '), active: active ? 1 : 0, fresh };
}

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

export function deliveryColumns(webhook: Webhook, { eventId, userId: _, appId: __, at, ...notice }: Notice) {
  const id = deliveryIdOf(webhook.id, eventId);
  return { ...notice, id, webhook: webhook.id, tenant: webhook.tenant, eventId, now: at };
}

/** Parameters of SETTLE and of what is noted on the webhook. */
export function attemptColumns(attempted: Attempted) {
  const { status, now } = attempted;
  if (attempted.kind === 'delivered') return { status, state: 'delivered', error: null, retryAt: null, endedAt: now };
  const { error, retryAt } = attempted;
  const ended = retryAt === null;
  return { status, state: ended ? 'failed' : 'waiting', error, retryAt, endedAt: ended ? now : null };
}

/** Statements that SQLite and PostgreSQL both read. */
export const INSERT_WEBHOOK = `
  INSERT INTO webhooks (id, tenant, name, url, events, user_id, app_id, active, secret, created_at, updated_at)
  SELECT @id, @tenant, @name, @url, @events, @userId, @appId, @active, @secret, @createdAt, @createdAt
  WHERE (SELECT count(*) FROM webhooks WHERE tenant = @tenant) < @max`;

export const SELECT_WEBHOOKS = 'SELECT w.* FROM webhooks w';
export const GET_WEBHOOK = `${SELECT_WEBHOOKS} WHERE w.id = @id AND w.tenant = @tenant`;
export const ACTIVE_WEBHOOKS = `${SELECT_WEBHOOKS} WHERE w.tenant = @tenant AND w.active = 1 ORDER BY w.id`;

export const CHANGE_WEBHOOK = `
  UPDATE webhooks SET name = @name, url = @url, events = @events, user_id = @userId, app_id = @appId,
    active = @active, secret = @secret, previous_secret = @previousSecret, previous_until = @previousUntil,
    failures = CASE WHEN @fresh = 1 THEN 0 ELSE failures END,
    held_until = CASE WHEN @fresh = 1 THEN 0 ELSE held_until END,
    failing_since = CASE WHEN @fresh = 1 THEN NULL ELSE failing_since END,
    last_error = CASE WHEN @fresh = 1 THEN NULL ELSE last_error END,
    paused_at = CASE WHEN @fresh = 1 THEN NULL ELSE paused_at END,
    updated_at = @now
  WHERE id = @id AND tenant = @tenant`;

export const REMOVE_DELIVERIES = 'DELETE FROM webhook_deliveries WHERE webhook = @id AND tenant = @tenant';
export const REMOVE_WEBHOOK = 'DELETE FROM webhooks WHERE id = @id AND tenant = @tenant';

/** Of a user who is erased: a webhook for this user alone goes, with what it was to be told. */
export const FORGET_USER_IN_WEBHOOKS = [
  `DELETE FROM webhook_deliveries
   WHERE webhook IN (SELECT id FROM webhooks WHERE tenant = @tenant AND user_id = @userId)`,
  'DELETE FROM webhooks WHERE tenant = @tenant AND user_id = @userId',
];

export const INSERT_DELIVERY = `
  INSERT INTO webhook_deliveries (id, webhook, tenant, lane, subject, event_id, type, body, state, due_at, created_at)
  VALUES (@id, @webhook, @tenant, @lane, @subject, @eventId, @type, @body, 'waiting', @now, @now)
  ON CONFLICT (id) DO NOTHING`;

/** The first of each subject alone waits for nothing but its time. */
const IS_DUE = `
  d.state = 'waiting' AND d.due_at <= @now AND NOT EXISTS (
    SELECT 1 FROM webhook_deliveries e
    WHERE e.webhook = d.webhook AND e.subject = d.subject AND e.state = 'waiting' AND e.seq < d.seq
  )`;

/** Webhooks for which something is due, the one that waits longest first. Who has much to be told costs no more than others. */
export const DUE_WEBHOOKS = `
  SELECT * FROM (
    SELECT w.*, (
      SELECT d.due_at FROM webhook_deliveries d WHERE d.webhook = w.id AND ${IS_DUE} ORDER BY d.due_at, d.seq LIMIT 1
    ) AS first_due
    FROM webhooks w WHERE w.active = 1 AND w.held_until <= @now
  ) AS due WHERE first_due IS NOT NULL ORDER BY first_due, id LIMIT @limit`;

/** Of one webhook. One more claim never hurts: who comes second finds them taken. */
export const PICK_DUE = `
  SELECT d.* FROM webhook_deliveries d WHERE d.webhook = @webhook AND ${IS_DUE} ORDER BY d.due_at, d.seq LIMIT @limit`;

export const TAKE = 'UPDATE webhook_deliveries SET attempts = attempts + 1, due_at = @until WHERE id = @id';
export const HOLD = 'UPDATE webhooks SET held_until = @until WHERE id = @id AND failures > 0';

type Claiming = Parameters<WebhookStore['claim']>[0];

/** As many webhooks as could be asked for, were all those with deliveries under way passed over. */
export const webhooksAtMost = ({ limit, places }: Claiming): number => limit + Object.keys(places.taken).length;

/** How many deliveries of a webhook may be claimed, beside those that are: one of a webhook that failed last. */
export function freePlaces({ id, failures }: WebhookRow, claimed: number, { limit, places }: Claiming): number {
  const free = Math.max(0, Math.min(places.each - (places.taken[id] ?? 0), limit - claimed));
  return failures > 0 ? Math.min(1, free) : free;
}

export const SETTLE = `
  UPDATE webhook_deliveries SET state = @state, status = @status, error = @error, ended_at = @endedAt,
    due_at = coalesce(@retryAt, due_at)
  WHERE id = @id AND attempts = @attempts AND state = 'waiting'`;

const OF_DELIVERY = '(SELECT webhook FROM webhook_deliveries WHERE id = @id)';

export const NOTE_SUCCESS = `
  UPDATE webhooks SET failures = 0, failing_since = NULL, last_error = NULL, held_until = 0
  WHERE id = ${OF_DELIVERY} AND failures > 0`;

export const NOTE_FAILURE = `
  UPDATE webhooks SET failures = failures + 1, failing_since = coalesce(failing_since, @now), last_error = @error,
    held_until = @heldUntil, active = CASE WHEN @pause = 1 THEN 0 ELSE active END,
    paused_at = CASE WHEN @pause = 1 THEN @now ELSE paused_at END
  WHERE id = ${OF_DELIVERY}`;

const REPLAY = `
  UPDATE webhook_deliveries SET state = 'waiting', attempts_before = attempts, due_at = @now, ended_at = NULL
  WHERE webhook = @webhook AND tenant = @tenant AND `;
export const REPLAY_ONE = `${REPLAY} id = @id AND state <> 'waiting'`;
export const REPLAY_FAILED = `${REPLAY} state = 'failed'`;

export const FORGET_DELIVERIES = `
  DELETE FROM webhook_deliveries
  WHERE id IN (SELECT id FROM webhook_deliveries WHERE created_at < @before ORDER BY created_at LIMIT @limit)`;

export const BACKLOG = `
  SELECT coalesce(sum(CASE WHEN state = 'waiting' THEN 1 ELSE 0 END), 0) AS waiting, count(*) AS unfinished,
    min(CASE WHEN state = 'waiting' THEN created_at END) AS oldest
  FROM webhook_deliveries WHERE state <> 'delivered'`;

export interface BacklogRow {
  readonly waiting: number;
  readonly unfinished: number;
  readonly oldest: number | null;
}
