import type { TenantId, TenantSettings } from '@slowwave/engine';
import { DEFAULT_SETTINGS } from '@slowwave/engine/storing';
import type { Sql } from '../sql.ts';

/** What an earlier release did not know of is as by default. */
export function settingsOf(sql: Sql, tenant: TenantId): TenantSettings {
  const row = sql.get<{ settings: string }>('SELECT settings FROM settings WHERE tenant = @tenant', { tenant });
  return row === null ? DEFAULT_SETTINGS : { ...DEFAULT_SETTINGS, ...JSON.parse(row.settings) };
}
