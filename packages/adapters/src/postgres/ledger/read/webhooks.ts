import type { Delivery, DeliveryState, Page, Paged, TenantId, Webhook, WebhookBacklog } from '@slowwave/engine';
import { pageOf } from '../../../ledger/cursor.ts';
import { newestFirst, where } from '../../../ledger/page.ts';
import * as rows from '../../../ledger/rows/webhook.ts';
import type { Sql } from '../sql.ts';

export async function getWebhook(sql: Sql, tenant: TenantId, id: string): Promise<Webhook | null> {
  const row = await sql.get<rows.WebhookRow>(rows.GET_WEBHOOK, { tenant, id });
  return row === null ? null : rows.webhookFrom(row);
}

export async function listWebhooks(
  sql: Sql,
  { tenant, page }: { tenant: TenantId; page: Page },
): Promise<Paged<Webhook>> {
  const newest = newestFirst(page, 'w.created_at', 'w.id');
  const conditions = where(['w.tenant = @tenant', newest.condition]);
  const params = { tenant, ...newest.params };
  const found = await sql.all<rows.WebhookRow>(`${rows.SELECT_WEBHOOKS} ${conditions} ${newest.order}`, params);
  const { results, nextCursor } = pageOf(found, page.limit, (row) => [row.created_at, row.id]);
  return { results: results.map(rows.webhookFrom), nextCursor };
}

export async function listDeliveries(
  sql: Sql,
  { tenant, id, state, page }: { tenant: TenantId; id: string; state: DeliveryState | null; page: Page },
): Promise<Paged<Delivery>> {
  const newest = newestFirst(page, 'd.created_at', 'd.id');
  const wanted = state === null ? null : 'd.state = @state';
  const conditions = where(['d.tenant = @tenant', 'd.webhook = @id', wanted, newest.condition]);
  const text = `SELECT d.* FROM webhook_deliveries d ${conditions} ${newest.order}`;
  const found = await sql.all<rows.DeliveryRow>(text, { tenant, id, state, ...newest.params });
  const { results, nextCursor } = pageOf(found, page.limit, (row) => [row.created_at, row.id]);
  return { results: results.map(rows.deliveryFrom), nextCursor };
}

export async function webhookBacklog(sql: Sql): Promise<WebhookBacklog> {
  const row = await sql.get<rows.BacklogRow>(rows.BACKLOG);
  const { waiting = 0, unfinished = 0, oldest = null } = row ?? {};
  return { waiting, failed: unfinished - waiting, oldest };
}
