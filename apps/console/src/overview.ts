import { DriftQuery, DriftView, OverviewQuery, OverviewView } from '@slowwave/contracts';
import {
  type Ceilings,
  chatTokens,
  DAY_MS,
  type DriftedFigure,
  dateTextOf,
  dayOf,
  driftOf,
  FIGURES,
  type Glance,
  isoOf,
  isoOrNull,
  type Millis,
  moneySpent,
  rungName,
  rungOn,
  type Tally,
  type TenantSettings,
  type UsageOfStep,
} from '@slowwave/engine';
import { routesOf } from './deps.ts';

const route = routesOf('manage');

const HOUR_MS = 3_600_000;
const HOURS = { day: 24, week: 168 } as const;
const USAGE_DAYS = 7;
/** An index has them: they are counted in milliseconds. */
const ENTRIES_MAX = 50_000;
const ROWS_MAX = 1_000;

export const getOverview = route('GET /v1/overview', {
  id: 'getOverview',
  summary: 'Get an overview of recent activity and pending decisions',
  description: 'Reads a limited amount of data regardless of the total, so it can be called every few seconds.',
  query: OverviewQuery,
  answer: OverviewView,
  handle: async (deps, { tenant, query }) => {
    const { ledger, tools } = deps;
    const now = tools.now();
    const since = now - (now % HOUR_MS) - (HOURS[query.period] - 1) * HOUR_MS;
    const fromDay = dayOf(now) - USAGE_DAYS + 1;
    const how = { now, since, everyMs: HOUR_MS, fromDay, entriesMax: ENTRIES_MAX, rowsMax: ROWS_MAX };
    const [glance, { rules: settings, ceilings, economy }] = await Promise.all([
      ledger.overview.glance(tenant, how),
      ledger.settings.terms(tenant),
    ]);
    const rung = rungOn(economy, dayOf(now));
    return {
      at: isoOf(now),
      batches: glance.open,
      oldest_due_at: isoOrNull(glance.oldestDue),
      reviews_waiting: glance.reviews,
      parked: [...glance.parked],
      history: historyOf(glance, now),
      freshness: freshnessOf(glance.delays),
      answers: answersOf(glance),
      usage: glance.usage.map(usageView),
      today: todayOf(
        glance.usage.filter(({ day }) => day === dayOf(now)),
        settings,
        ceilings ?? deps.ceilings,
      ),
      economy: { rung, saves: rungName(rung), since: rung === 0 ? null : isoOrNull(economy?.since ?? null) },
    };
  },
});

const NONE = { pending: 0, consolidating: 0, consolidated: 0, empty: 0, parked: 0, undone: 0 };

/** Every hour is listed, also those in which nothing was accepted. */
function historyOf({ accepted, acceptedSince }: Glance, now: Millis): OverviewView['history'] {
  const byHour = Map.groupBy(accepted, ({ from }) => from);
  const hours: OverviewView['history']['hours'] = [];
  for (let at = acceptedSince; at <= now; at += HOUR_MS) {
    const states = (byHour.get(at) ?? []).map(({ state, batches }) => [state, batches]);
    hours.push({ at: isoOf(at), ...NONE, ...Object.fromEntries(states) });
  }
  return { since: isoOf(acceptedSince), hours };
}

const freshnessOf = (delays: Glance['delays']): OverviewView['freshness'] => ({
  batches: delays.length,
  p50_ms: quantileOf(delays, 0.5),
  p95_ms: quantileOf(delays, 0.95),
});

/** The smallest of these that so large a share of them does not exceed. */
const quantileOf = (sorted: readonly number[], share: number): number | null =>
  sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)] ?? null;

function answersOf({ answers, answersSince }: Glance): OverviewView['answers'] {
  const counts = Object.fromEntries(answers.map(({ route: asked, answers: count }) => [asked, count]));
  return { since: isoOf(answersSince), search: 0, context: 0, recall: 0, ...counts };
}

const usageView = (used: UsageOfStep): OverviewView['usage'][number] => ({
  day: dateTextOf(used.day * DAY_MS),
  step: used.step,
  model: used.model,
  calls: used.calls,
  failed_calls: used.failedCalls,
  prompt_tokens: used.promptTokens,
  completion_tokens: used.completionTokens,
  cost: used.cost,
});

const todayOf = (
  used: readonly UsageOfStep[],
  { budgets }: TenantSettings,
  ceilings: Ceilings,
): OverviewView['today'] => ({
  tokens: {
    used: chatTokens(used),
    limit: lower(budgets.tokensPerDay, ceilings.tokensPerDay),
  },
  cost: { used: moneySpent(used), limit: lower(budgets.costPerDay, ceilings.costPerDay) },
});

function lower(...limits: readonly (number | null)[]): number | null {
  const given = limits.filter((limit) => limit !== null);
  return given.length === 0 ? null : Math.min(...given);
}

const RECENT_MS = 7 * DAY_MS;
const BEFORE_MS = 28 * DAY_MS;
/** Of each kind and period. */
const MEASURED_MAX = 1_000;

export const getDrift = route('GET /v1/drift', {
  id: 'getDrift',
  summary: 'Compare the consolidations of the last seven days with the 28 days before',
  description:
    'Needs no test data: it shows changes in production, for example a model that its provider has replaced.',
  query: DriftQuery,
  answer: DriftView,
  handle: async ({ ledger, tools }, { tenant, query }) => {
    const now = tools.now();
    const periods = {
      before: { from: now - RECENT_MS - BEFORE_MS, to: now - RECENT_MS },
      recent: { from: now - RECENT_MS, to: now + 1 },
    };
    const read = (period: { from: Millis; to: Millis }) =>
      ledger.overview.measured(tenant, { ...period, rowsMax: MEASURED_MAX });
    const [before, recent] = await Promise.all([read(periods.before), read(periods.recent)]);
    const { figures, opinions, models } = driftOf(before, recent, query.model ?? null);
    const shown = ({ from, to }: { from: Millis; to: Millis }) => ({ from: isoOf(from), to: isoOf(to) });
    return {
      before: shown(periods.before),
      recent: shown(periods.recent),
      models: [...models],
      figures: figures.map(figureView),
      opinions: opinions.map((one) => ({ of: one.of, before: tallyView(one.before), recent: tallyView(one.recent) })),
    };
  },
});

function figureView({
  figure,
  baseline,
  variant,
  difference,
  n,
  verdict,
}: DriftedFigure): DriftView['figures'][number] {
  const { says, kind, worse } = FIGURES[figure];
  const counted = { before: n.baseline, recent: n.variant };
  return { figure, says, kind, worse, before: baseline, recent: variant, n: counted, difference, verdict };
}

const tallyView = ({ part, of }: Tally) => ({ against: part, of });
