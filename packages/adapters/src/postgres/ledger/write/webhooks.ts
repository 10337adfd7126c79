import {
  type Attempted,
  type ClaimedDelivery,
  isWanted,
  type NewWebhook,
  type Notice,
  type TenantId,
  type Webhook,
  type WebhookChanges,
  type WebhookStore,
} from '@slowwave/engine';
import * as rows from '../../../ledger/rows/webhook.ts';
import { getWebhook } from '../read/webhooks.ts';
import type { Sql } from '../sql.ts';

interface Named {
  readonly tenant: TenantId;
  readonly id: string;
}

/** Notes what the tenant's active webhooks are to be told. */
export async function tellWebhooks(
  sql: Sql,
  tenant: TenantId,
  notices: () => readonly Notice[] | Promise<readonly Notice[]>,
): Promise<void> {
  const active = (await sql.all<rows.WebhookRow>(ACTIVE_AND_STAYING, { tenant })).map(rows.webhookFrom);
  if (active.length === 0) return;
  for (const notice of await notices()) {
    for (const webhook of active.filter((one) => isWanted(one, notice))) {
      await sql.run(rows.INSERT_DELIVERY, rows.deliveryColumns(webhook, notice));
    }
  }
}

/** None of them is removed before what it is to be told is noted: a delivery without its webhook would undo the change. */
const ACTIVE_AND_STAYING = `${rows.ACTIVE_WEBHOOKS} FOR KEY SHARE`;

export async function createWebhook(
  sql: Sql,
  { webhook, max }: { webhook: NewWebhook; max: number },
): Promise<boolean> {
  return (await sql.run(rows.INSERT_WEBHOOK, { ...rows.webhookColumns(webhook), max })) > 0;
}

export async function changeWebhook(
  sql: Sql,
  { tenant, id, changes, now }: Named & { changes: WebhookChanges; now: number },
): Promise<Webhook | null> {
  const webhook = await getWebhook(sql, tenant, id);
  if (webhook === null) return null;
  await sql.run(rows.CHANGE_WEBHOOK, rows.changedColumns(webhook, changes, now));
  return getWebhook(sql, tenant, id);
}

/** Waits for changes that are just noted for it, so that nothing is noted between the two. */
export async function removeWebhook(sql: Sql, named: Named): Promise<boolean> {
  await sql.all(`${rows.GET_WEBHOOK} FOR UPDATE`, { ...named });
  await sql.run(rows.REMOVE_DELIVERIES, { ...named });
  return (await sql.run(rows.REMOVE_WEBHOOK, { ...named })) > 0;
}

/** Of a webhook that failed last one at a time is tried. */
export async function claimDeliveries(sql: Sql, how: Parameters<WebhookStore['claim']>[0]): Promise<ClaimedDelivery[]> {
  const { now, until } = how;
  const claimed: ClaimedDelivery[] = [];
  for (const webhook of await sql.all<rows.WebhookRow>(rows.DUE_WEBHOOKS, { now, limit: rows.webhooksAtMost(how) })) {
    const limit = rows.freePlaces(webhook, claimed.length, how);
    const due = limit === 0 ? [] : await sql.all<rows.DeliveryRow>(PICK_DUE, { webhook: webhook.id, now, limit });
    if (due.length > 0 && webhook.failures > 0) await sql.run(rows.HOLD, { id: webhook.id, until });
    for (const row of due) {
      await sql.run(rows.TAKE, { id: row.id, until });
      const delivery = rows.deliveryFrom({ ...row, attempts: row.attempts + 1, due_at: until });
      claimed.push({ delivery, webhook: rows.webhookFrom(webhook) });
    }
  }
  return claimed;
}

/** What another worker is just taking is passed over. */
const PICK_DUE = `${rows.PICK_DUE} FOR NO KEY UPDATE OF d SKIP LOCKED`;

export async function settleDelivery(
  sql: Sql,
  { id, attempts, attempted }: { id: string; attempts: number; attempted: Attempted },
): Promise<boolean> {
  if ((await sql.run(rows.SETTLE, { id, attempts, ...rows.attemptColumns(attempted) })) === 0) return false;
  if (attempted.kind === 'delivered') await sql.run(rows.NOTE_SUCCESS, { id });
  else {
    const { error, heldUntil, pause, now } = attempted;
    await sql.run(rows.NOTE_FAILURE, { id, error, heldUntil, pause: pause ? 1 : 0, now });
  }
  return true;
}

export async function replayDeliveries(
  sql: Sql,
  { tenant, webhook, which, now }: { tenant: TenantId; webhook: string; which: { id: string } | 'failed'; now: number },
): Promise<number> {
  if (which === 'failed') return sql.run(rows.REPLAY_FAILED, { tenant, webhook, now });
  return sql.run(rows.REPLAY_ONE, { tenant, webhook, id: which.id, now });
}

export async function forgetDeliveries(
  sql: Sql,
  { before, limit }: { before: number; limit: number },
): Promise<number> {
  return sql.run(rows.FORGET_DELIVERIES, { before, limit });
}
