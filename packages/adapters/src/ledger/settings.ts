import type { Ceilings, SettingsStore, TenantSettings } from '@slowwave/engine';
import { DEFAULT_SETTINGS } from '@slowwave/engine/storing';
import { lookup, storeOf, write } from './access.ts';
import type { ColumnsOf } from './rows/columns.ts';
import { first, firstAs, run } from './script.ts';

export const settingsStore = storeOf<SettingsStore>('settings', {
  terms: lookup(function* (tenant) {
    const row = yield* first<TermsRow>(SELECT_TERMS, { tenant });
    return {
      rules: rulesFrom(row?.settings ?? null),
      ceilings: row === null || row.limited === null ? null : ceilingsFrom(row),
    };
  }),
  get: lookup(function* (tenant) {
    const row = yield* first<{ settings: string }>('SELECT settings FROM settings WHERE tenant = @tenant', { tenant });
    return rulesFrom(row?.settings ?? null);
  }),
  put: write(function* (tenant, settings) {
    yield* run(
      `INSERT INTO settings (tenant, settings) VALUES (@tenant, @settings::jsonb)
       ON CONFLICT (tenant) DO UPDATE SET settings = excluded.settings`,
      { tenant, settings: JSON.stringify(settings) },
    );
  }),
  ceilings: lookup((tenant) => {
    const text = 'SELECT tokens_per_day, cost_per_day FROM ceilings WHERE tenant = @tenant';
    return firstAs(ceilingsFrom, text, { tenant });
  }),
  /** null: what holds for all tenants counts again. */
  putCeilings: write(function* (tenant, ceilings) {
    if (ceilings === null) yield* run('DELETE FROM ceilings WHERE tenant = @tenant', { tenant });
    else yield* run(PUT_CEILINGS, { tenant, tokens: ceilings.tokensPerDay, cost: ceilings.costPerDay });
  }),
});

const SELECT_TERMS = `
  SELECT s.settings, c.tenant AS limited, c.tokens_per_day, c.cost_per_day
  FROM (SELECT @tenant::text AS tenant) t
  LEFT JOIN settings s ON s.tenant = t.tenant LEFT JOIN ceilings c ON c.tenant = t.tenant`;

const PUT_CEILINGS = `
  INSERT INTO ceilings (tenant, tokens_per_day, cost_per_day) VALUES (@tenant, @tokens, @cost)
  ON CONFLICT (tenant) DO UPDATE SET tokens_per_day = excluded.tokens_per_day, cost_per_day = excluded.cost_per_day`;

type CeilingsRow = ColumnsOf<Ceilings>;

interface TermsRow extends CeilingsRow {
  readonly settings: string | null;
  /** The tenant, where it has ceilings. */
  readonly limited: string | null;
}

const ceilingsFrom = (row: CeilingsRow): Ceilings => ({
  tokensPerDay: row.tokens_per_day,
  costPerDay: row.cost_per_day,
});

/** What was added since the tenant chose is as by default. */
const rulesFrom = (settings: string | null): TenantSettings =>
  settings === null ? DEFAULT_SETTINGS : { ...DEFAULT_SETTINGS, ...JSON.parse(settings) };
