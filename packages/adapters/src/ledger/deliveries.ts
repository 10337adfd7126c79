import type {
  Attempted,
  ClaimedDelivery,
  Delivery,
  DeliveryState,
  Notice,
  Page,
  Paged,
  TenantId,
  Webhook,
  WebhookBacklog,
  WebhookStore,
} from '@slowwave/engine';
import { deliveryIdOf, isWanted } from '@slowwave/engine/storing';
import { asRead, asWrite } from './access.ts';
import { pageOf } from './cursor.ts';
import { newestFirst, where } from './page.ts';
import { type DeliveryRow, deliveryFrom, type WebhookRow, webhookFrom } from './rows/webhook.ts';
import { all, first, insert, run, type Script, type Table } from './script.ts';

/**
 * Who is to be notified of a change of the tenant's batches or memories. None of them is removed before what it is to hear
 * is noted: a delivery without its webhook would undo the change.
 */
export function* activeWebhooks(tenant: TenantId): Script<readonly Webhook[]> {
  const text = 'SELECT * FROM webhooks WHERE tenant = @tenant AND active = 1 ORDER BY id FOR KEY SHARE';
  return (yield* all<WebhookRow>(text, { tenant })).map(webhookFrom);
}

/** Notes of what webhooks are to be notified, in the transaction that makes it so. */
export function* noteDeliveries(webhooks: readonly Webhook[], notices: readonly Notice[]): Script<void> {
  const rows = notices.flatMap((notice) =>
    webhooks.filter((webhook) => isWanted(webhook, notice)).map((webhook) => newDelivery(webhook, notice)),
  );
  yield* insert(NEW_DELIVERIES, rows);
}

const newDelivery = ({ id: webhook, tenant }: Webhook, { eventId, lane, subject, type, body, at }: Notice) => ({
  ...{ id: deliveryIdOf(webhook, eventId), webhook, tenant, lane, subject, event_id: eventId, type, body },
  ...{ state: 'waiting', due_at: at, created_at: at },
});

const NEW_DELIVERIES: Table<keyof ReturnType<typeof newDelivery>> = {
  name: 'webhook_deliveries',
  columns: {
    ...{ id: 'text', webhook: 'text', tenant: 'text', lane: 'text', subject: 'text', event_id: 'text', type: 'text' },
    ...{ body: 'text', state: 'text', due_at: 'bigint', created_at: 'bigint' },
  },
  onConflict: 'ON CONFLICT (id) DO NOTHING',
};

interface List {
  readonly tenant: TenantId;
  /** Of the webhook. */
  readonly id: string;
  readonly state: DeliveryState | null;
  readonly page: Page;
}

export const listDeliveries = asRead('webhooks.deliveries', function* (of: List): Script<Paged<Delivery>> {
  const { tenant, id, state, page } = of;
  const newest = newestFirst(page, 'd.created_at', 'd.id');
  const wanted = state === null ? null : 'd.state = @state';
  const conditions = where(['d.tenant = @tenant', 'd.webhook = @id', wanted, newest.condition]);
  const text = `SELECT d.* FROM webhook_deliveries d ${conditions} ${newest.order}`;
  const rows = yield* all<DeliveryRow>(text, { tenant, id, state, ...newest.params });
  const { results, nextCursor } = pageOf(rows, page.limit, (row) => [row.created_at, row.id]);
  return { results: results.map(deliveryFrom), nextCursor };
});

type Claim = Parameters<WebhookStore['claim']>[0];

/** Of a webhook that failed last one at a time is tried. */
export const claimDeliveries = asWrite('webhooks.claim', function* (how: Claim): Script<readonly ClaimedDelivery[]> {
  const { now, until } = how;
  const claimed: ClaimedDelivery[] = [];
  for (const webhook of yield* all<WebhookRow>(DUE_WEBHOOKS, { now, limit: webhooksAtMost(how) })) {
    const limit = freePlaces(webhook, claimed.length, how);
    const due = limit === 0 ? [] : yield* all<DeliveryRow>(PICK_DUE, { webhook: webhook.id, now, limit });
    if (due.length === 0) continue;
    if (webhook.failures > 0) yield* run(HOLD, { id: webhook.id, until });
    yield* run(TAKE, { ids: due.map(({ id }) => id), until });
    for (const row of due) {
      const delivery = deliveryFrom({ ...row, attempts: row.attempts + 1, due_at: until });
      claimed.push({ delivery, webhook: webhookFrom(webhook) });
    }
  }
  return claimed;
});

/** As many webhooks as could be asked for, were all those with deliveries under way passed over. */
const webhooksAtMost = ({ limit, places }: Claim): number => limit + Object.keys(places.taken).length;

/** How many deliveries of a webhook may be claimed, beside those that are: one of a webhook that failed last. */
function freePlaces({ id, failures }: WebhookRow, claimed: number, { limit, places }: Claim): number {
  const free = Math.max(0, Math.min(places.each - (places.taken[id] ?? 0), limit - claimed));
  return failures > 0 ? Math.min(1, free) : free;
}

/** The first of each subject alone waits for nothing but its time. */
const IS_DUE = `
  d.state = 'waiting' AND d.due_at <= @now AND NOT EXISTS (
    SELECT 1 FROM webhook_deliveries e
    WHERE e.webhook = d.webhook AND e.subject = d.subject AND e.state = 'waiting' AND e.seq < d.seq
  )`;

/** Webhooks for which something is due, the one that waits longest first. One with much to deliver costs no more than others. */
const DUE_WEBHOOKS = `
  SELECT * FROM (
    SELECT w.*, (
      SELECT d.due_at FROM webhook_deliveries d WHERE d.webhook = w.id AND ${IS_DUE} ORDER BY d.due_at, d.seq LIMIT 1
    ) AS first_due
    FROM webhooks w WHERE w.active = 1 AND w.held_until <= @now
  ) AS due WHERE first_due IS NOT NULL ORDER BY first_due, id LIMIT @limit`;

/** Of one webhook. What another worker is just taking is passed over. */
const PICK_DUE = `
  SELECT d.* FROM webhook_deliveries d WHERE d.webhook = @webhook AND ${IS_DUE} ORDER BY d.due_at, d.seq LIMIT @limit
  FOR NO KEY UPDATE OF d SKIP LOCKED`;

const HOLD = 'UPDATE webhooks SET held_until = @until WHERE id = @id AND failures > 0';
const TAKE = 'UPDATE webhook_deliveries SET attempts = attempts + 1, due_at = @until WHERE id IN :ids';

interface Noting {
  readonly id: string;
  readonly attempts: number;
  readonly attempted: Attempted;
}

export const noteAttempt = asWrite('webhooks.note', function* (of: Noting): Script<boolean> {
  const { id, attempts, attempted } = of;
  const { status, now } = attempted;
  if (attempted.kind === 'delivered') {
    const delivered = { state: 'delivered', status, error: null, retryAt: null, endedAt: now };
    if ((yield* run(SETTLE, { id, attempts, ...delivered })) === 0) return false;
    yield* run(NOTE_SUCCESS, { id });
    return true;
  }
  const { error, retryAt, heldUntil, pause } = attempted;
  const ended = retryAt === null;
  const failed = { state: ended ? 'failed' : 'waiting', status, error, retryAt, endedAt: ended ? now : null };
  if ((yield* run(SETTLE, { id, attempts, ...failed })) === 0) return false;
  yield* run(NOTE_FAILURE, { id, error, heldUntil, pause: pause ? 1 : 0, now });
  return true;
});

const SETTLE = `
  UPDATE webhook_deliveries SET state = @state, status = @status, error = @error, ended_at = @endedAt,
    due_at = coalesce(@retryAt, due_at)
  WHERE id = @id AND attempts = @attempts AND state = 'waiting'`;

const OF_DELIVERY = '(SELECT webhook FROM webhook_deliveries WHERE id = @id)';

const NOTE_SUCCESS = `
  UPDATE webhooks SET failures = 0, failing_since = NULL, last_error = NULL, held_until = 0
  WHERE id = ${OF_DELIVERY} AND failures > 0`;

const NOTE_FAILURE = `
  UPDATE webhooks SET failures = failures + 1, failing_since = coalesce(failing_since, @now), last_error = @error,
    held_until = @heldUntil, active = CASE WHEN @pause = 1 THEN 0 ELSE active END,
    paused_at = CASE WHEN @pause = 1 THEN @now ELSE paused_at END
  WHERE id = ${OF_DELIVERY}`;

interface Replay {
  readonly tenant: TenantId;
  readonly webhook: string;
  readonly which: { readonly id: string } | 'failed';
  readonly now: number;
}

export const replayDeliveries = asWrite('webhooks.replay', function* (of: Replay): Script<number> {
  const { tenant, webhook, which, now } = of;
  if (which === 'failed') return yield* run(`${REPLAY} AND state = 'failed'`, { tenant, webhook, now });
  return yield* run(`${REPLAY} AND id = @id AND state <> 'waiting'`, { tenant, webhook, id: which.id, now });
});

const REPLAY = `
  UPDATE webhook_deliveries SET state = 'waiting', attempts_before = attempts, due_at = @now, ended_at = NULL
  WHERE webhook = @webhook AND tenant = @tenant`;

interface Forget {
  readonly before: number;
  readonly limit: number;
}

export const forgetDeliveries = asWrite(
  'webhooks.forget',
  (of: Forget): Script<number> =>
    run(
      `DELETE FROM webhook_deliveries
       WHERE id IN (SELECT id FROM webhook_deliveries WHERE created_at < @before ORDER BY created_at LIMIT @limit)`,
      { ...of },
    ),
);

interface BacklogRow {
  readonly waiting: number;
  readonly unfinished: number;
  readonly oldest: number | null;
}

export const countBacklog = asRead('webhooks.backlog', function* (): Script<WebhookBacklog> {
  const row = yield* first<BacklogRow>(`
    SELECT count(*) FILTER (WHERE state = 'waiting') AS waiting, count(*) AS unfinished,
      min(created_at) FILTER (WHERE state = 'waiting') AS oldest
    FROM webhook_deliveries WHERE state <> 'delivered'`);
  const { waiting = 0, unfinished = 0, oldest = null } = row ?? {};
  return { waiting, failed: unfinished - waiting, oldest };
});
