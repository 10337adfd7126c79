import type { Ceilings, Economy, ModelStore, SettingsStore, TenantSettings, Terms } from '@slowwave/engine';
import { DEFAULT_SETTINGS } from '@slowwave/engine/storing';
import type { ColumnsOf } from './rows/columns.ts';
import { first, firstAs, lookup, run, storeOf, write } from './script.ts';

export const settingsStore = storeOf<SettingsStore>('settings', {
  terms: lookup(function* (tenant) {
    return termsFrom(yield* first<TermsColumns>(`SELECT ${termsOf('@tenant')}`, { tenant }));
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

/** In the ledger's own table of small values, where their names are apart from all others. */
export const modelStore = storeOf<ModelStore>('models', {
  get: lookup((name) =>
    firstAs(({ value }: { value: string }) => JSON.parse(value), 'SELECT value FROM meta WHERE key = @key', {
      key: MODEL + name,
    }),
  ),
  put: write(function* (name, known) {
    const key = MODEL + name;
    if (known === null) yield* run('DELETE FROM meta WHERE key = @key', { key });
    else yield* run(PUT_MODEL, { key, value: JSON.stringify(known) });
  }),
  swap: write(function* (name, before, known) {
    const key = MODEL + name;
    const value = known === null ? null : JSON.stringify(known);
    if (before === null) return value === null ? true : (yield* run(NEW_MODEL, { key, value })) === 1;
    const held = { key, before: JSON.stringify(before) };
    if (value === null) return (yield* run('DELETE FROM meta WHERE key = @key AND value = @before', held)) === 1;
    const text = 'UPDATE meta SET value = @value WHERE key = @key AND value = @before';
    return (yield* run(text, { ...held, value })) === 1;
  }),
});

const MODEL = 'model ';

const NEW_MODEL = 'INSERT INTO meta (key, value) VALUES (@key, @value) ON CONFLICT (key) DO NOTHING';

const PUT_MODEL = `
  INSERT INTO meta (key, value) VALUES (@key, @value) ON CONFLICT (key) DO UPDATE SET value = excluded.value`;

const rulesOf = (tenant: string): string =>
  `(SELECT chosen.settings FROM settings chosen WHERE chosen.tenant = ${tenant})`;

const ceilingsOf = (tenant: string): string =>
  `(SELECT jsonb_build_array(allowed.tokens_per_day, allowed.cost_per_day) FROM ceilings allowed WHERE allowed.tenant = ${tenant})`;

const economyOf = (tenant: string): string =>
  `(SELECT jsonb_build_array(e.day, e.rung, e.highest, e.limits, e.since) FROM economies e WHERE e.tenant = ${tenant})`;

const shareEpochOf = (tenant: string): string =>
  `(SELECT told.epoch FROM tenant_shares told WHERE told.tenant = ${tenant})`;

/** Columns with all that holds for a tenant, for a statement that reads something else of it. */
export const termsOf = (tenant: string): string =>
  `${rulesOf(tenant)} AS rules, ${ceilingsOf(tenant)} AS ceilings, ${economyOf(tenant)} AS economy, ${shareEpochOf(tenant)} AS share_epoch`;

export interface TermsColumns {
  readonly rules: string | null;
  readonly ceilings: string | null;
  readonly economy: string | null;
  readonly share_epoch: number | null;
}

/** The same as values; the defaults where nothing is found. */
export function termsFrom(row: TermsColumns | null | undefined): Terms {
  const [tokensPerDay, costPerDay]: readonly (number | null)[] = JSON.parse(row?.ceilings ?? '[]');
  return {
    rules: rulesFrom(row?.rules ?? null),
    ceilings: row?.ceilings == null ? null : { tokensPerDay: tokensPerDay ?? null, costPerDay: costPerDay ?? null },
    economy: row?.economy == null ? null : economyFrom(row.economy),
    shareEpoch: row?.share_epoch ?? null,
  };
}

function economyFrom(json: string): Economy {
  const [day, rung, highest, limits, since]: [number, number, number, string, number] = JSON.parse(json);
  return { day, rung, highest, limits, since };
}

const PUT_CEILINGS = `
  INSERT INTO ceilings (tenant, tokens_per_day, cost_per_day) VALUES (@tenant, @tokens, @cost)
  ON CONFLICT (tenant) DO UPDATE SET tokens_per_day = excluded.tokens_per_day, cost_per_day = excluded.cost_per_day`;

type CeilingsRow = ColumnsOf<Ceilings>;

const ceilingsFrom = (row: CeilingsRow): Ceilings => ({
  tokensPerDay: row.tokens_per_day,
  costPerDay: row.cost_per_day,
});

/** What was added since the tenant chose is as by default. */
const rulesFrom = (settings: string | null): TenantSettings =>
  settings === null ? DEFAULT_SETTINGS : { ...DEFAULT_SETTINGS, ...JSON.parse(settings) };
