import type {
  Attempted,
  ClaimedDelivery,
  NewWebhook,
  Notice,
  TenantId,
  Webhook,
  WebhookChanges,
  WebhookStore,
} from '@slowwave/engine';
import { isWanted } from '@slowwave/engine/storing';
import * as rows from '../../../ledger/rows/webhook.ts';
import { getWebhook } from '../read/webhooks.ts';
import type { Sql } from '../sql.ts';

interface Named {
  readonly tenant: TenantId;
  readonly id: string;
}

/** Notes what the tenant's active webhooks are to be told. */
export function tellWebhooks(sql: Sql, tenant: TenantId, notices: () => readonly Notice[]): void {
  const active = sql.all<rows.WebhookRow>(rows.ACTIVE_WEBHOOKS, { tenant }).map(rows.webhookFrom);
  if (active.length === 0) return;
  for (const notice of notices()) {
    for (const webhook of active.filter((one) => isWanted(one, notice))) {
      sql.run(rows.INSERT_DELIVERY, rows.deliveryColumns(webhook, notice));
    }
  }
}

export function createWebhook(sql: Sql, { webhook, max }: { webhook: NewWebhook; max: number }): boolean {
  return sql.run(rows.INSERT_WEBHOOK, { ...rows.webhookColumns(webhook), max }) > 0;
}

export function changeWebhook(
  sql: Sql,
  { tenant, id, changes, now }: Named & { changes: WebhookChanges; now: number },
): Webhook | null {
  const webhook = getWebhook(sql, tenant, id);
  if (webhook === null) return null;
  sql.run(rows.CHANGE_WEBHOOK, rows.changedColumns(webhook, changes, now));
  return getWebhook(sql, tenant, id);
}

export function removeWebhook(sql: Sql, named: Named): boolean {
  sql.run(rows.REMOVE_DELIVERIES, { ...named });
  return sql.run(rows.REMOVE_WEBHOOK, { ...named }) > 0;
}

/** Of a webhook that failed last one at a time is tried. */
export function claimDeliveries(sql: Sql, how: Parameters<WebhookStore['claim']>[0]): ClaimedDelivery[] {
  const { now, until } = how;
  const claimed: ClaimedDelivery[] = [];
  for (const webhook of sql.all<rows.WebhookRow>(rows.DUE_WEBHOOKS, { now, limit: rows.webhooksAtMost(how) })) {
    const limit = rows.freePlaces(webhook, claimed.length, how);
    const due = limit === 0 ? [] : sql.all<rows.DeliveryRow>(rows.PICK_DUE, { webhook: webhook.id, now, limit });
    if (due.length > 0) sql.run(rows.HOLD, { id: webhook.id, until });
    for (const row of due) {
      sql.run(rows.TAKE, { id: row.id, until });
      const delivery = rows.deliveryFrom({ ...row, attempts: row.attempts + 1, due_at: until });
      claimed.push({ delivery, webhook: rows.webhookFrom(webhook) });
    }
  }
  return claimed;
}

export function settleDelivery(
  sql: Sql,
  { id, attempts, attempted }: { id: string; attempts: number; attempted: Attempted },
): boolean {
  if (sql.run(rows.SETTLE, { id, attempts, ...rows.attemptColumns(attempted) }) === 0) return false;
  if (attempted.kind === 'delivered') sql.run(rows.NOTE_SUCCESS, { id });
  else {
    const { error, heldUntil, pause, now } = attempted;
    sql.run(rows.NOTE_FAILURE, { id, error, heldUntil, pause: pause ? 1 : 0, now });
  }
  return true;
}

export function replayDeliveries(
  sql: Sql,
  { tenant, webhook, which, now }: { tenant: TenantId; webhook: string; which: { id: string } | 'failed'; now: number },
): number {
  if (which === 'failed') return sql.run(rows.REPLAY_FAILED, { tenant, webhook, now });
  return sql.run(rows.REPLAY_ONE, { tenant, webhook, id: which.id, now });
}

export function forgetDeliveries(sql: Sql, { before, limit }: { before: number; limit: number }): number {
  return sql.run(rows.FORGET_DELIVERIES, { before, limit });
}
