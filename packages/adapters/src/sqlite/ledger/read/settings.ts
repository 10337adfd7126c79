import type { Ceilings, TenantId, TenantSettings } from '@slowwave/engine';
import { DEFAULT_SETTINGS } from '@slowwave/engine/storing';
import { type CeilingsRow, ceilingsFrom, SELECT_CEILINGS } from '../../../ledger/rows/ceilings.ts';
import type { Sql } from '../sql.ts';

/** What an earlier release did not know of is as by default. */
export function settingsOf(sql: Sql, tenant: TenantId): TenantSettings {
  const row = sql.get<{ settings: string }>('SELECT settings FROM settings WHERE tenant = @tenant', { tenant });
  return row === null ? DEFAULT_SETTINGS : { ...DEFAULT_SETTINGS, ...JSON.parse(row.settings) };
}

export function ceilingsOf(sql: Sql, tenant: TenantId): Ceilings | null {
  const row = sql.get<CeilingsRow>(SELECT_CEILINGS, { tenant });
  return row === null ? null : ceilingsFrom(row);
}
