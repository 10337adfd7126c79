import type { EngineDeps } from '../deps.ts';
import type { ReplayFilter } from '../ports/ledger/replays.ts';
import { CALLS_KEPT_MS, type PastUse } from '../ports/ledger/usage.ts';
import type { TenantId } from '../words.ts';
import { type Forecast, forecast } from './forecast.ts';

type Deps = Pick<EngineDeps, 'ledger' | 'tools'>;

/** The newest: models and prompts change. */
const CONSOLIDATIONS_MAX = 2_000;
/** As one consolidation takes by default. */
const WINDOW_TOKENS = 6_000;
/** Of one message, where none is known. */
const MESSAGE_TOKENS = 60;

/** What is to be consolidated for a tenant. */
export interface PlannedWork {
  /** As messages count. null: only how many messages is known, which are as long as those of the past. */
  readonly tokens: number | null;
  readonly messages: number;
  readonly owners: number;
  /** Said now, and not posted as backfill. */
  readonly live: boolean;
}

/**
 * What this will use, by the consolidations of the same tenant. What was said live says more of a backfill than nothing does, and the
 * other way round.
 */
export async function forecastOf({ ledger, tools }: Deps, tenant: TenantId, work: PlannedWork): Promise<Forecast> {
  const since = tools.now() - CALLS_KEPT_MS;
  const past = (backfill: boolean) => ledger.usage.past(tenant, { since, backfill, limit: CONSOLIDATIONS_MAX });
  const alike = await past(!work.live);
  const first = forecast(plannedBy(work, alike), alike, WINDOW_TOKENS);
  if (first.basis.owners > 0) return first;
  const other = await past(work.live);
  return forecast(plannedBy(work, other), other, WINDOW_TOKENS);
}

/** The same of batches that are consolidated again, whose tokens are known. */
export async function forecastOfReplay(deps: Deps, tenant: TenantId, filter: ReplayFilter): Promise<Forecast> {
  const { tokens, messages, owners, backfill, batches } = await deps.ledger.replays.size(tenant, filter);
  return forecastOf(deps, tenant, { tokens, messages, owners, live: backfill * 2 < batches });
}

function plannedBy({ tokens, messages, owners }: PlannedWork, past: readonly PastUse[]) {
  if (tokens !== null) return { tokens, owners };
  const known = past.reduce((sum, use) => sum + use.messages, 0);
  const said = past.reduce((sum, use) => sum + use.saidTokens, 0);
  return { tokens: Math.round(messages * (known === 0 ? MESSAGE_TOKENS : said / known)), owners };
}
