import type {
  Attempted,
  ClaimedDelivery,
  Delivery,
  Millis,
  Notice,
  TenantId,
  Webhook,
  WebhookEvent,
  WebhookStore,
} from '@slowwave/engine';
import { deliveryIdOf, isWanted } from '@slowwave/engine/storing';
import { type Listing, newestFirst } from './page.ts';
import type { ColumnsOf } from './rows/columns.ts';
import {
  type Access,
  all,
  allAs,
  few,
  first,
  firstAs,
  insert,
  read,
  run,
  type Script,
  storeOf,
  write,
} from './script.ts';

export function webhookStore(access: Access): WebhookStore {
  const { isDue, ...store } = scripted(access);
  return {
    ...store,
    // Each worker asks each second: where nothing is due nothing is written.
    claim: async (how) => ((await isDue(how.now)) ? store.claim(how) : []),
  };
}

interface Scripts extends WebhookStore {
  isDue(now: Millis): Promise<boolean>;
}

const scripted = storeOf<Scripts>('webhooks', {
  create: write(function* ({ events, active, ...columns }, max) {
    return (yield* run(INSERT_WEBHOOK, { ...columns, events: events.join(' '), active: active ? 1 : 0, max })) > 0;
  }),
  get: read((tenant, id) => firstAs(webhookFrom, GET_WEBHOOK, { tenant, id })),
  list: read((tenant, page) => newestFirst(WEBHOOKS, page, { tenant })),
  /** All of it is written: what another change or an attempt says meanwhile must not be unsaid. */
  change: write(function* (...[tenant, id, changes, now]) {
    const row = yield* first<WebhookRow>(`${GET_WEBHOOK} FOR NO KEY UPDATE`, { tenant, id });
    if (row === null) return null;
    const { name, url, events, userId, appId, active, secret, previous } = { ...webhookFrom(row), ...changes };
    return yield* firstAs(webhookFrom, CHANGE_WEBHOOK, {
      id,
      tenant,
      name,
      url,
      events: events.join(' '),
      userId,
      appId,
      active: active ? 1 : 0,
      secret,
      now,
      previousSecret: previous?.secret ?? null,
      previousUntil: previous?.until ?? null,
      fresh: changes.active === true ? 1 : 0,
    });
  }),
  /** Waits for changes that are just noted for it, so that nothing is noted between the two. */
  remove: write(function* (tenant, id) {
    yield* first(`${GET_WEBHOOK} FOR UPDATE`, { tenant, id });
    yield* run('DELETE FROM webhook_deliveries WHERE webhook = @id AND tenant = @tenant', { tenant, id });
    return (yield* run('DELETE FROM webhooks WHERE id = @id AND tenant = @tenant', { tenant, id })) > 0;
  }),
  /** Of a webhook that failed last one at a time is tried. */
  claim: write(function* (how) {
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
  }),
  isDue: few(function* (now) {
    return (yield* first(DUE_WEBHOOKS, { now, limit: 1 })) !== null;
  }),
  note: write(function* ({ id, attempts }, attempted) {
    if ((yield* run(SETTLE, { id, attempts, ...settled(attempted) })) === 0) return false;
    if (attempted.kind === 'delivered') yield* run(NOTE_SUCCESS, { id });
    else {
      const { error, heldUntil, pause, now } = attempted;
      yield* run(NOTE_FAILURE, { id, error, heldUntil, pause: pause ? 1 : 0, now });
    }
    return true;
  }),
  deliveries: read((...[tenant, webhook, { state }, page]) =>
    newestFirst(DELIVERIES, page, { tenant, webhook, state }),
  ),
  replay: write(function* (...[tenant, webhook, which, now]) {
    if (which === 'failed') return yield* run(`${REPLAY} AND state = 'failed'`, { tenant, webhook, now });
    return yield* run(`${REPLAY} AND id = @id AND state <> 'waiting'`, { tenant, webhook, id: which.id, now });
  }),
  forget: write((before, limit) => run(FORGET, { before, limit })),
  backlog: read(function* () {
    const row = yield* first<BacklogRow>(COUNT_BACKLOG);
    const { waiting = 0, unfinished = 0, oldest = null } = row ?? {};
    return { waiting, failed: unfinished - waiting, oldest };
  }),
});

const INSERT_WEBHOOK = `
  INSERT INTO webhooks (id, tenant, name, url, events, user_id, app_id, active, secret, created_at, updated_at)
  SELECT @id, @tenant, @name, @url, @events, @userId, @appId, @active, @secret, @createdAt, @createdAt
  WHERE (SELECT count(*) FROM webhooks WHERE tenant = @tenant) < @max`;

const GET_WEBHOOK = 'SELECT * FROM webhooks WHERE id = @id AND tenant = @tenant';

/** A webhook as it is stored. */
interface WebhookRow extends ColumnsOf<Omit<Webhook, 'events' | 'active' | 'previous'>> {
  readonly events: string;
  /** A number in both dialects. */
  readonly active: number;
  readonly previous_secret: string | null;
  readonly previous_until: number | null;
}

const webhookFrom = (row: WebhookRow): Webhook => ({
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

const WEBHOOKS: Listing<WebhookRow, Webhook> = {
  select: 'SELECT w.* FROM webhooks w',
  by: ['w.created_at', 'w.id'],
  asked: { tenant: 'w.tenant = @tenant' },
  make: webhookFrom,
};

const CHANGE_WEBHOOK = `
  UPDATE webhooks SET name = @name, url = @url, events = @events, user_id = @userId, app_id = @appId,
    active = @active, secret = @secret, previous_secret = @previousSecret, previous_until = @previousUntil,
    failures = CASE WHEN @fresh = 1 THEN 0 ELSE failures END,
    held_until = CASE WHEN @fresh = 1 THEN 0 ELSE held_until END,
    failing_since = CASE WHEN @fresh = 1 THEN NULL ELSE failing_since END,
    last_error = CASE WHEN @fresh = 1 THEN NULL ELSE last_error END,
    paused_at = CASE WHEN @fresh = 1 THEN NULL ELSE paused_at END,
    updated_at = @now
  WHERE id = @id AND tenant = @tenant RETURNING *`;

/** Of a user who is erased: a webhook for this user alone goes, with what it was to hear. */
export function* forgetUserInWebhooks(tenant: TenantId, userId: string): Script<void> {
  const whose = 'tenant = @tenant AND user_id = @userId';
  // Nothing more is noted for them meanwhile.
  yield* all(`SELECT id FROM webhooks WHERE ${whose} ORDER BY id FOR UPDATE`, { tenant, userId });
  yield* run(`DELETE FROM webhook_deliveries WHERE webhook IN (SELECT id FROM webhooks WHERE ${whose})`, {
    tenant,
    userId,
  });
  yield* run(`DELETE FROM webhooks WHERE ${whose}`, { tenant, userId });
}

/**
 * Who is to be notified of a change of the tenant's batches or memories. None of them is removed before what it is to hear
 * is noted: a delivery without its webhook would undo the change.
 */
export function* activeWebhooks(tenant: TenantId): Script<readonly Webhook[]> {
  const text = 'SELECT * FROM webhooks WHERE tenant = @tenant AND active = 1 ORDER BY id FOR KEY SHARE';
  return yield* allAs(webhookFrom, text, { tenant });
}

/** Notes of what webhooks are to be notified, in the transaction that makes it so. */
export function* noteDeliveries(webhooks: readonly Webhook[], notices: readonly Notice[]): Script<void> {
  const rows = notices.flatMap((notice) =>
    webhooks.filter((webhook) => isWanted(webhook, notice)).map((webhook) => newDelivery(webhook, notice)),
  );
  yield* insert('webhook_deliveries', rows, 'ON CONFLICT (id) DO NOTHING');
}

const newDelivery = ({ id: webhook, tenant }: Webhook, { eventId, lane, subject, type, body, at }: Notice) => ({
  id: deliveryIdOf(webhook, eventId),
  webhook,
  tenant,
  lane: lane ?? NO_LANE,
  subject,
  event_id: eventId,
  type,
  body,
  state: 'waiting',
  due_at: at,
  created_at: at,
});

/** Of what is about no single owner. No lane has such an id. */
const NO_LANE = '';

/** A delivery as it is stored. */
interface DeliveryRow extends ColumnsOf<Omit<Delivery, 'webhookId' | 'tries'>> {
  readonly webhook: string;
  readonly attempts_before: number;
}

const deliveryFrom = (row: DeliveryRow): Delivery => ({
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

const DELIVERIES: Listing<DeliveryRow, Delivery> = {
  select: 'SELECT d.* FROM webhook_deliveries d',
  by: ['d.created_at', 'd.id'],
  asked: { tenant: 'd.tenant = @tenant', webhook: 'd.webhook = @webhook', state: 'd.state = @state' },
  make: deliveryFrom,
};

type Claim = Parameters<WebhookStore['claim']>[0];

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

/** What becomes of a delivery that was attempted. */
function settled(attempted: Attempted) {
  const { status, now } = attempted;
  if (attempted.kind === 'delivered') return { state: 'delivered', status, error: null, retryAt: null, endedAt: now };
  const { error, retryAt } = attempted;
  const ended = retryAt === null;
  return { state: ended ? 'failed' : 'waiting', status, error, retryAt, endedAt: ended ? now : null };
}

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

const REPLAY = `
  UPDATE webhook_deliveries SET state = 'waiting', attempts_before = attempts, due_at = @now, ended_at = NULL
  WHERE webhook = @webhook AND tenant = @tenant`;

const FORGET = `
  DELETE FROM webhook_deliveries
  WHERE id IN (SELECT id FROM webhook_deliveries WHERE created_at < @before ORDER BY created_at LIMIT @limit)`;

interface BacklogRow {
  readonly waiting: number;
  readonly unfinished: number;
  readonly oldest: number | null;
}

const COUNT_BACKLOG = `
  SELECT count(*) FILTER (WHERE state = 'waiting') AS waiting, count(*) AS unfinished,
    min(created_at) FILTER (WHERE state = 'waiting') AS oldest
  FROM webhook_deliveries WHERE state <> 'delivered'`;
