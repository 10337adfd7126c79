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
import { removeHistories, removeMessages, removePlans } from './write/retention.ts';

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
    histories: (tenant, before, { after, limit }) =>
      read(async (sql) => {
        const page = { tenant, before, limit, ...afterPlace(after) };
        return (await sql.all<HistoryRow>(SELECT_HISTORIES, page)).map(placeFrom);
      }),
    removeHistories: (tenant, removals) => write((sql) => removeHistories(sql, { tenant, removals })),
    withoutMessages: (tenant, batchIds) =>
      read(async (sql) => {
        const rows = await sql.all<{ id: string }>(SELECT_STRIPPED, { tenant, ids: batchIds });
        return rows.map(({ id }) => id);
      }),
  };
}

const SELECT_STRIPPED =
  'SELECT id FROM batches WHERE tenant = @tenant AND stripped_at IS NOT NULL AND id = ANY(@ids::text[])';
