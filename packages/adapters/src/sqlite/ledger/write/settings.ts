import type { Ceilings, TenantId, TenantSettings } from '@slowwave/engine';
import { writeCeilings } from '../../../ledger/rows/ceilings.ts';
import type { Sql } from '../sql.ts';

/** Replaces what the tenant had chosen. */
export function putSettings(sql: Sql, { tenant, settings }: { tenant: TenantId; settings: TenantSettings }): void {
  sql.run(UPSERT_SETTINGS, { tenant, settings: JSON.stringify(settings) });
}

const UPSERT_SETTINGS = `
  INSERT INTO settings (tenant, settings) VALUES (@tenant, @settings)
  ON CONFLICT (tenant) DO UPDATE SET settings = excluded.settings`;

export function putCeilings(sql: Sql, of: { tenant: TenantId; ceilings: Ceilings | null }): void {
  sql.run(...writeCeilings(of));
}
