import { type Batch, batchNotice, type TenantId } from '@slowwave/engine';
import { getBatch } from '../read/batches.ts';
import type { Sql } from '../sql.ts';
import { tellWebhooks } from './webhooks.ts';

/** Batches have just become searchable or were parked. */
export async function tellOfBatches(
  sql: Sql,
  ended: readonly { readonly id: string; readonly tenant: TenantId }[],
  at: number,
): Promise<void> {
  for (const tenant of new Set(ended.map((batch) => batch.tenant))) {
    const ids = ended.filter((batch) => batch.tenant === tenant).map(({ id }) => id);
    await tellWebhooks(sql, tenant, async () => {
      const found: Batch[] = [];
      for (const id of ids) found.push(...[await getBatch(sql, tenant, id)].filter((batch) => batch !== null));
      return found.map((batch) => batchNotice(batch, at));
    });
  }
}
