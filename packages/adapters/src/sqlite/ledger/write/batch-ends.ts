import type { TenantId } from '@slowwave/engine';
import { batchNotice } from '@slowwave/engine/storing';
import { getBatch } from '../read/batches.ts';
import type { Sql } from '../sql.ts';
import { tellWebhooks } from './webhooks.ts';

/** Batches have just become searchable or were parked. */
export function tellOfBatches(
  sql: Sql,
  ended: readonly { readonly id: string; readonly tenant: TenantId }[],
  at: number,
): void {
  for (const tenant of new Set(ended.map((batch) => batch.tenant))) {
    const ids = ended.filter((batch) => batch.tenant === tenant).map(({ id }) => id);
    tellWebhooks(sql, tenant, () =>
      ids.flatMap((id) => {
        const batch = getBatch(sql, tenant, id);
        return batch === null ? [] : [batchNotice(batch, at)];
      }),
    );
  }
}
