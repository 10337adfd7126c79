import type { LaneId, RetentionStore, TenantId } from '@slowwave/engine';
import { COUNT_MESSAGES, COUNT_PLANS, SELECT_LANES, SELECT_TENANTS } from '../../ledger/retaining.ts';
import type { Access } from './access.ts';
import { removeMessages, removePlans } from './write/retention.ts';

export function retentionStore({ read, write }: Access): RetentionStore {
  const count = (text: string, tenant: TenantId, before: number): Promise<number> =>
    read(async (sql) => (await sql.get<{ count: number }>(text, { tenant, before }))?.count ?? 0);
  return {
    tenants: () =>
      read(async (sql) => (await sql.all<{ tenant: TenantId }>(SELECT_TENANTS)).map(({ tenant }) => tenant)),
    lanes: (tenant, after, limit) =>
      read(async (sql) => {
        const rows = await sql.all<{ id: LaneId }>(SELECT_LANES, { tenant, after: after ?? '', limit });
        return rows.map(({ id }) => id);
      }),
    countMessages: (tenant, before) => count(COUNT_MESSAGES, tenant, before),
    removeMessages: (tenant, before, how) => write((sql) => removeMessages(sql, { tenant, before, ...how })),
    countPlans: (tenant, before) => count(COUNT_PLANS, tenant, before),
    removePlans: (tenant, before, how) => write((sql) => removePlans(sql, { tenant, before, ...how })),
  };
}
