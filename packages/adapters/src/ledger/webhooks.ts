import type { NewWebhook, Page, Paged, TenantId, Webhook, WebhookChanges, WebhookStore } from '@slowwave/engine';
import { type Access, asRead, asWrite } from './access.ts';
import { pageOf } from './cursor.ts';
import {
  claimDeliveries,
  countBacklog,
  forgetDeliveries,
  listDeliveries,
  noteAttempt,
  replayDeliveries,
} from './deliveries.ts';
import { newestFirst, where } from './page.ts';
import { type WebhookRow, webhookFrom } from './rows/webhook.ts';
import { all, first, run, type Script } from './script.ts';

export const webhookStore = ({ read, write }: Access): WebhookStore => ({
  create: (webhook, max) => write(createWebhook, { webhook, max }),
  get: (tenant, id) => read(getWebhook, { tenant, id }),
  list: (tenant, page) => read(listWebhooks, { tenant, page }),
  change: (...[tenant, id, changes, now]) => write(changeWebhook, { tenant, id, changes, now }),
  remove: (tenant, id) => write(removeWebhook, { tenant, id }),
  claim: (how) => write(claimDeliveries, how),
  note: ({ id, attempts }, attempted) => write(noteAttempt, { id, attempts, attempted }),
  deliveries: (...[tenant, id, { state = null }, page]) => read(listDeliveries, { tenant, id, state, page }),
  replay: (...[tenant, webhook, which, now]) => write(replayDeliveries, { tenant, webhook, which, now }),
  forget: (before, limit) => write(forgetDeliveries, { before, limit }),
  backlog: () => read(countBacklog, null),
});

interface Create {
  readonly webhook: NewWebhook;
  readonly max: number;
}

const createWebhook = asWrite('webhooks.create', function* ({ webhook, max }: Create): Script<boolean> {
  const { events, active, ...columns } = webhook;
  const given = { ...columns, events: events.join(' '), active: active ? 1 : 0, max };
  return (yield* run(INSERT_WEBHOOK, given)) > 0;
});

const INSERT_WEBHOOK = `
  INSERT INTO webhooks (id, tenant, name, url, events, user_id, app_id, active, secret, created_at, updated_at)
  SELECT @id, @tenant, @name, @url, @events, @userId, @appId, @active, @secret, @createdAt, @createdAt
  WHERE (SELECT count(*) FROM webhooks WHERE tenant = @tenant) < @max`;

interface OneOf {
  readonly tenant: TenantId;
  readonly id: string;
}

const GET_WEBHOOK = 'SELECT * FROM webhooks WHERE id = @id AND tenant = @tenant';

const getWebhook = asRead('webhooks.get', function* (of: OneOf): Script<Webhook | null> {
  const row = yield* first<WebhookRow>(GET_WEBHOOK, { ...of });
  return row === null ? null : webhookFrom(row);
});

interface List {
  readonly tenant: TenantId;
  readonly page: Page;
}

const listWebhooks = asRead('webhooks.list', function* ({ tenant, page }: List): Script<Paged<Webhook>> {
  const newest = newestFirst(page, 'w.created_at', 'w.id');
  const conditions = where(['w.tenant = @tenant', newest.condition]);
  const text = `SELECT w.* FROM webhooks w ${conditions} ${newest.order}`;
  const rows = yield* all<WebhookRow>(text, { tenant, ...newest.params });
  const { results, nextCursor } = pageOf(rows, page.limit, (row) => [row.created_at, row.id]);
  return { results: results.map(webhookFrom), nextCursor };
});

interface Change extends OneOf {
  readonly changes: WebhookChanges;
  readonly now: number;
}

/** All of it is written: what another change or an attempt says meanwhile must not be unsaid. */
const changeWebhook = asWrite('webhooks.change', function* (change: Change): Script<Webhook | null> {
  const { tenant, id, changes, now } = change;
  const row = yield* first<WebhookRow>(`${GET_WEBHOOK} FOR NO KEY UPDATE`, { tenant, id });
  if (row === null) return null;
  const { name, url, events, userId, appId, active, secret, previous } = { ...webhookFrom(row), ...changes };
  const changed = yield* first<WebhookRow>(CHANGE_WEBHOOK, {
    ...{ id, tenant, name, url, events: events.join(' '), userId, appId, active: active ? 1 : 0, secret, now },
    previousSecret: previous?.secret ?? null,
    previousUntil: previous?.until ?? null,
    fresh: changes.active === true ? 1 : 0,
  });
  return changed === null ? null : webhookFrom(changed);
});

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

/** Waits for changes that are just noted for it, so that nothing is noted between the two. */
const removeWebhook = asWrite('webhooks.remove', function* (of: OneOf): Script<boolean> {
  yield* first(`${GET_WEBHOOK} FOR UPDATE`, { ...of });
  yield* run('DELETE FROM webhook_deliveries WHERE webhook = @id AND tenant = @tenant', { ...of });
  return (yield* run('DELETE FROM webhooks WHERE id = @id AND tenant = @tenant', { ...of })) > 0;
});

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
