import type { Ceilings, SettingsStore, TenantId, TenantSettings, Terms } from '@slowwave/engine';
import { DEFAULT_SETTINGS } from '@slowwave/engine/storing';
import { type Access, asLookup, asWrite } from './access.ts';
import { first, run, type Script } from './script.ts';

export const settingsStore = ({ read, write }: Access): SettingsStore => ({
  terms: (tenant) => read(getTerms, { tenant }),
  get: (tenant) => read(getSettings, { tenant }),
  put: (tenant, settings) => write(putSettings, { tenant, settings }),
  ceilings: (tenant) => read(getCeilings, { tenant }),
  putCeilings: (tenant, ceilings) => write(putCeilings, { tenant, ceilings }),
});

interface OfTenant {
  readonly tenant: TenantId;
}

interface TermsRow extends CeilingsRow {
  readonly settings: string | null;
  /** The tenant, where it has ceilings. */
  readonly limited: string | null;
}

const getTerms = asLookup('settings.terms', function* ({ tenant }: OfTenant): Script<Terms> {
  const text = `
    SELECT s.settings, c.tenant AS limited, c.tokens_per_day, c.cost_per_day
    FROM (SELECT @tenant::text AS tenant) t
    LEFT JOIN settings s ON s.tenant = t.tenant LEFT JOIN ceilings c ON c.tenant = t.tenant`;
  const row = yield* first<TermsRow>(text, { tenant });
  return {
    rules: rulesFrom(row?.settings ?? null),
    ceilings: row === null || row.limited === null ? null : ceilingsFrom(row),
  };
});

const getSettings = asLookup('settings.get', function* ({ tenant }: OfTenant): Script<TenantSettings> {
  const text = 'SELECT settings FROM settings WHERE tenant = @tenant';
  const row = yield* first<{ settings: string }>(text, { tenant });
  return rulesFrom(row?.settings ?? null);
});

/** What was added since the tenant chose is as by default. */
const rulesFrom = (settings: string | null): TenantSettings =>
  settings === null ? DEFAULT_SETTINGS : { ...DEFAULT_SETTINGS, ...JSON.parse(settings) };

interface PutSettings extends OfTenant {
  readonly settings: TenantSettings;
}

const putSettings = asWrite('settings.put', function* ({ tenant, settings }: PutSettings): Script<void> {
  yield* run(
    `INSERT INTO settings (tenant, settings) VALUES (@tenant, @settings::jsonb)
     ON CONFLICT (tenant) DO UPDATE SET settings = excluded.settings`,
    { tenant, settings: JSON.stringify(settings) },
  );
});

interface CeilingsRow {
  readonly tokens_per_day: number | null;
  readonly cost_per_day: number | null;
}

const getCeilings = asLookup('settings.ceilings', function* ({ tenant }: OfTenant): Script<Ceilings | null> {
  const text = 'SELECT tokens_per_day, cost_per_day FROM ceilings WHERE tenant = @tenant';
  const row = yield* first<CeilingsRow>(text, { tenant });
  return row === null ? null : ceilingsFrom(row);
});

const ceilingsFrom = (row: CeilingsRow): Ceilings => ({
  tokensPerDay: row.tokens_per_day,
  costPerDay: row.cost_per_day,
});

interface PutCeilings extends OfTenant {
  readonly ceilings: Ceilings | null;
}

/** null: what holds for all tenants counts again. */
const putCeilings = asWrite('settings.putCeilings', function* ({ tenant, ceilings }: PutCeilings): Script<void> {
  if (ceilings === null) {
    yield* run('DELETE FROM ceilings WHERE tenant = @tenant', { tenant });
    return;
  }
  yield* run(
    `INSERT INTO ceilings (tenant, tokens_per_day, cost_per_day) VALUES (@tenant, @tokens, @cost)
     ON CONFLICT (tenant) DO UPDATE SET tokens_per_day = excluded.tokens_per_day, cost_per_day = excluded.cost_per_day`,
    { tenant, tokens: ceilings.tokensPerDay, cost: ceilings.costPerDay },
  );
});
