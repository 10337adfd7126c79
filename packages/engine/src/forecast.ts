import type { EngineDeps } from './deps.ts';
import type { ReplayFilter } from './ports/ledger/replays.ts';
import { CALLS_KEPT_MS, type PastUse } from './ports/ledger/usage.ts';
import type { TenantId } from './words.ts';

/** What is to be consolidated. */
interface Planned {
  /** As messages count: by the estimate of their texts. */
  readonly tokens: number;
  /** Whose windows are apart. */
  readonly owners: number;
}

/** An estimate; 19 of 20 times the truth lies within `plusMinus` of it. */
export interface About {
  readonly about: number;
  readonly plusMinus: number;
}

export interface Forecast {
  readonly promptTokens: About;
  readonly completionTokens: About;
  readonly tokens: About;
  /** null: calls of the past had no price, or there is no past. */
  readonly cost: About | null;
  readonly consolidations: number;
  /** The owners whose past this is taken from; 0: none, and it is a guess. */
  readonly basis: { readonly owners: number; readonly consolidations: number };
}

/** With less of a past there is none: one odd owner would be all there is. */
const OWNERS_MIN = 3;
/** Of a normal distribution, as the width of 19 in 20. */
const WIDTH = 1.96;

/** About what models use where nothing is known: instructions and known memories of each window, and what is read twice. */
const PRIOR = {
  prompt: { window: 6_000, token: 2 },
  completion: { window: 300, token: 1 },
  /** Models, languages and talk differ by as much. */
  spread: 0.6,
} as const;

/**
 * What consolidating so much will use, from what the same tenant's consolidations have used. Each costs something by itself, since
 * instructions are sent with every call, and something for each token that is read; both follow from the owners of the past.
 */
export function forecast(planned: Planned, past: readonly PastUse[], windowTokens: number): Forecast {
  const known = past.filter(({ consolidations, saidTokens }) => consolidations > 0 && saidTokens > 0);
  const sum = (of: (use: PastUse) => number): number => known.reduce((all, use) => all + of(use), 0);
  const consolidations = sum((use) => use.consolidations);
  const isKnown = known.length >= OWNERS_MIN;
  const perWindow = isKnown ? sum((use) => use.saidTokens) / consolidations : windowTokens;
  const size = {
    windows: planned.tokens === 0 ? 0 : Math.max(planned.owners, Math.round(planned.tokens / perWindow)),
    tokens: planned.tokens,
  };
  const basis = isKnown ? { owners: known.length, consolidations } : { owners: 0, consolidations: 0 };
  const predicted = (of: (use: PastUse) => number): About =>
    predict(
      size,
      known.map((use) => ({ ...use, used: of(use) })),
    );
  if (!isKnown) {
    const [promptTokens, completionTokens] = [guess(size, PRIOR.prompt), guess(size, PRIOR.completion)];
    const tokens = guess(size, { window: 6_300, token: 3 });
    return { promptTokens, completionTokens, tokens, cost: null, consolidations: size.windows, basis };
  }
  const isPriced = sum((use) => use.unpriced) === 0;
  return {
    promptTokens: predicted((use) => use.promptTokens),
    completionTokens: predicted((use) => use.completionTokens),
    tokens: predicted((use) => use.promptTokens + use.completionTokens),
    cost: isPriced ? predicted((use) => use.cost) : null,
    consolidations: size.windows,
    basis,
  };
}

interface Size {
  readonly windows: number;
  readonly tokens: number;
}

function guess({ windows, tokens }: Size, { window, token }: { window: number; token: number }): About {
  const about = Math.round(windows * window + tokens * token);
  return { about, plusMinus: Math.round(about * PRIOR.spread) };
}

type Used = PastUse & { readonly used: number };

/**
 * Weighted least squares without an intercept: used = a × consolidations + b × tokens, an owner's weight being what one of its
 * consolidations says about the next. Where both grow alike, or one of them would cost less than nothing, tokens alone decide.
 */
function predict(size: Size, past: readonly Used[]): About {
  const sum = (of: (use: Used) => number): number => past.reduce((all, use) => all + of(use), 0);
  const [nn, nx, xx] = [
    sum((use) => use.consolidations),
    sum((use) => use.saidTokens),
    sum((use) => use.saidTokens ** 2 / use.consolidations),
  ];
  const [ny, xy] = [sum((use) => use.used), sum((use) => (use.saidTokens * use.used) / use.consolidations)];
  const determinant = nn * xx - nx * nx;
  const isApart = determinant > nn * xx * 1e-6;
  const line = isApart
    ? { window: (ny * xx - xy * nx) / determinant, token: (nn * xy - nx * ny) / determinant }
    : { window: 0, token: -1 };
  const isPlausible = line.window >= 0 && line.token >= 0;
  const { window, token } = isPlausible ? line : { window: 0, token: ny / nx };
  const missed = sum(
    (use) => (use.used - window * use.consolidations - token * use.saidTokens) ** 2 / use.consolidations,
  );
  const variance = missed / Math.max(1, past.length - (isPlausible ? 2 : 1));
  const { windows, tokens } = size;
  // How sure the line is, as far from the past as this is.
  const lever = isPlausible
    ? (windows ** 2 * xx - 2 * windows * tokens * nx + tokens ** 2 * nn) / determinant
    : tokens ** 2 / (nx ** 2 / nn);
  return {
    about: windows * window + tokens * token,
    plusMinus: WIDTH * Math.sqrt(variance * (windows + Math.max(0, lever))),
  };
}

type Deps = Pick<EngineDeps, 'ledger' | 'tools'>;

/** The newest: models and prompts change. */
const CONSOLIDATIONS_MAX = 2_000;
/** As one consolidation takes by default. */
const WINDOW_TOKENS = 6_000;
/** Of one message, where none is known. */
const MESSAGE_TOKENS = 60;

/** What is to be consolidated for a tenant. */
interface PlannedWork {
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
