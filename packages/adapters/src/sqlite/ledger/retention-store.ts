import type { LaneId, RetentionStore, TenantId } from '@slowwave/engine';
import { COUNT_MESSAGES, COUNT_PLANS, SELECT_LANES, SELECT_TENANTS } from '../../ledger/retaining.ts';
import type { Access } from './access.ts';

export function retentionStore({ read, write }: Access): RetentionStore {
  const count = (text: string, tenant: TenantId, before: number): Promise<number> =>
    read((sql) => sql.get<{ count: number }>(text, { tenant, before })?.count ?? 0);
  return {
    tenants: () => read((sql) => sql.all<{ tenant: TenantId }>(SELECT_TENANTS).map(({ tenant }) => tenant)),
    lanes: (tenant, after, limit) =>
      read((sql) => sql.all<{ id: LaneId }>(SELECT_LANES, { tenant, after: after ?? '', limit }).map(({ id }) => id)),
    countMessages: (tenant, before) => count(COUNT_MESSAGES, tenant, before),
    removeMessages: (tenant, before, how) => write('removeMessages', { tenant, before, ...how }),
    countPlans: (tenant, before) => count(COUNT_PLANS, tenant, before),
    removePlans: (tenant, before, how) => write('removePlans', { tenant, before, ...how }),
  };
}
