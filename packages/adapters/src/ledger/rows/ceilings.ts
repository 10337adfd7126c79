import type { Ceilings, TenantId } from '@slowwave/engine';

export interface CeilingsRow {
  readonly tokens_per_day: number | null;
  readonly cost_per_day: number | null;
}

export const SELECT_CEILINGS = 'SELECT tokens_per_day, cost_per_day FROM ceilings WHERE tenant = @tenant';

export const ceilingsFrom = (row: CeilingsRow): Ceilings => ({
  tokensPerDay: row.tokens_per_day,
  costPerDay: row.cost_per_day,
});

type Statement = [text: string, values: Record<string, string | number | null>];

/** null: what holds for all tenants counts again. */
export function writeCeilings({ tenant, ceilings }: { tenant: TenantId; ceilings: Ceilings | null }): Statement {
  if (ceilings === null) return ['DELETE FROM ceilings WHERE tenant = @tenant', { tenant }];
  return [UPSERT, { tenant, tokens: ceilings.tokensPerDay, cost: ceilings.costPerDay }];
}

const UPSERT = `
  INSERT INTO ceilings (tenant, tokens_per_day, cost_per_day) VALUES (@tenant, @tokens, @cost)
  ON CONFLICT (tenant) DO UPDATE SET tokens_per_day = excluded.tokens_per_day, cost_per_day = excluded.cost_per_day`;
