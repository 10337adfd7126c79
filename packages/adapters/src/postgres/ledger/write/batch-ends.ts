import { batchNotice, type TenantId } from '@slowwave/engine';
import { activeWebhooks, noteDeliveries } from '../../../ledger/deliveries.ts';
import { getBatch } from '../read/batches.ts';
import { runScript } from '../script.ts';
import type { Sql } from '../sql.ts';

/** Batches have just become searchable or were parked. */
export async function tellOfBatches(
  sql: Sql,
  ended: readonly { readonly id: string; readonly tenant: TenantId }[],
  at: number,
): Promise<void> {
  for (const [tenant, batches] of Map.groupBy(ended, (batch) => batch.tenant)) {
    const webhooks = await runScript(sql, activeWebhooks(tenant));
    if (webhooks.length === 0) continue;
    const found = await Promise.all(batches.map(({ id }) => getBatch(sql, tenant, id)));
    const notices = found.filter((batch) => batch !== null).map((batch) => batchNotice(batch, at));
    await runScript(sql, noteDeliveries(webhooks, notices));
  }
}
