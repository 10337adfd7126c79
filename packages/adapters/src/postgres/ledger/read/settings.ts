import { type Ceilings, DEFAULT_SETTINGS, type TenantId, type TenantSettings } from '@slowwave/engine';
import { type CeilingsRow, ceilingsFrom, SELECT_CEILINGS } from '../../../ledger/rows/ceilings.ts';
import type { Sql } from '../sql.ts';

/** What an earlier release did not know of is as by default. */
export async function settingsOf(sql: Sql, tenant: TenantId): Promise<TenantSettings> {
  const text = 'SELECT settings FROM settings WHERE tenant = @tenant';
  const row = await sql.get<{ settings: string }>(text, { tenant });
  return row === null ? DEFAULT_SETTINGS : { ...DEFAULT_SETTINGS, ...JSON.parse(row.settings) };
}

export async function ceilingsOf(sql: Sql, tenant: TenantId): Promise<Ceilings | null> {
  const row = await sql.get<CeilingsRow>(SELECT_CEILINGS, { tenant });
  return row === null ? null : ceilingsFrom(row);
}
