import type { LaneId, RetentionStore, TenantId } from '@slowwave/engine';
import {
  afterPlace,
  COUNT_MESSAGES,
  COUNT_PLANS,
  type HistoryRow,
  placeFrom,
  SELECT_HISTORIES,
  SELECT_LANES,
  SELECT_TENANTS,
} from '../../ledger/retaining.ts';
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
    histories: (tenant, before, { after, limit }) =>
      read((sql) => {
        const page = { tenant, before, limit, ...afterPlace(after) };
        return sql.all<HistoryRow>(SELECT_HISTORIES, page).map(placeFrom);
      }),
    removeHistories: (tenant, removals) => write('removeHistories', { tenant, removals }),
    withoutMessages: (tenant, batchIds) =>
      read((sql) => {
        const rows = sql.all<{ id: string }>(SELECT_STRIPPED, { tenant, ids: JSON.stringify(batchIds) });
        return rows.map(({ id }) => id);
      }),
  };
}

const SELECT_STRIPPED = `
  SELECT id FROM batches
  WHERE tenant = @tenant AND stripped_at IS NOT NULL AND id IN (SELECT value FROM json_each(@ids))`;
