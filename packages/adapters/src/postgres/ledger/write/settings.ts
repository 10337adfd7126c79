import type { Ceilings, TenantId, TenantSettings } from '@slowwave/engine';
import { writeCeilings } from '../../../ledger/rows/ceilings.ts';
import type { Sql } from '../sql.ts';

/** Replaces what the tenant had chosen. */
export async function putSettings(
  sql: Sql,
  { tenant, settings }: { tenant: TenantId; settings: TenantSettings },
): Promise<void> {
  await sql.run(UPSERT_SETTINGS, { tenant, settings: JSON.stringify(settings) });
}

const UPSERT_SETTINGS = `
  INSERT INTO settings (tenant, settings) VALUES (@tenant, @settings::jsonb)
  ON CONFLICT (tenant) DO UPDATE SET settings = excluded.settings`;

export async function putCeilings(sql: Sql, of: { tenant: TenantId; ceilings: Ceilings | null }): Promise<void> {
  await sql.run(...writeCeilings(of));
}
