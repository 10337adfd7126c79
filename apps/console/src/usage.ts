import {
  ForecastView,
  HoldList,
  HoldView,
  ListHoldsQuery,
  PostForecast,
  UsageQuery,
  UsageReport,
  type UsageRowView,
} from '@slowwave/contracts';
import {
  type About,
  CALLS_KEPT_MS,
  DAY_MS,
  dateTextOf,
  type Forecast,
  forecastOf,
  isoOf,
  isoOrNull,
  type KeptHold,
  type Millis,
  needsCalls,
  type UsageAsked,
  type UsageGroup,
  type UsageRow,
  type UsageStep,
  type UsageSums,
} from '@slowwave/engine';
import { concerns, given, IdParams, listed, momentOf, notFound, pageOf, problem } from '@slowwave/http';
import { z } from 'zod';
import { tenantNamed } from './access.ts';
import { routesOf } from './deps.ts';

const route = routesOf('manage');

const HOUR_MS = 3_600_000;
const USUAL_DAYS = 7;
/** A file has more rows than a page. */
const CSV_ROWS_MAX = 100_000;

/** What models used and cost, and will. */
export const usageRoutes = [
  route('GET /v1/usage', {
    id: 'getUsage',
    summary: 'Get what model calls used and cost',
    description:
      'Adds up every chat model call: tokens as counted by the provider, cost by the price list at that time, and duration. ' +
      'Daily sums are kept forever. format=csv returns all rows at once. See docs/costs.md.',
    query: UsageQuery,
    answer: {
      200: {
        description: 'The sums of each group',
        content: { 'application/json': { schema: UsageReport }, 'text/csv': { schema: z.string() } },
      },
    },
    bounds: { by: 'query', apps: true },
    handle: async ({ ledger, tools }, { query, request, reply }) => {
      const tenant = tenantNamed(request, query.tenant);
      const asked = askedBy(query, tools.now());
      const times = { from: isoOf(asked.from), to: isoOf(asked.to) };
      if (query.format === 'csv') {
        const rows = await ledger.usage.report(tenant, asked, { limit: CSV_ROWS_MAX, offset: 0 });
        return reply
          .type('text/csv; charset=utf-8')
          .header('content-disposition', 'attachment; filename="usage.csv"')
          .serializer((text: unknown) => String(text))
          .send(csvOf(rows.map(rowView), asked.groups));
      }
      const { limit } = query;
      const offset = offsetIn(query.cursor);
      const rows = await ledger.usage.report(tenant, asked, { limit: limit + 1, offset });
      const next_cursor = rows.length > limit ? String(offset + limit) : null;
      return { ...times, results: rows.slice(0, limit).map(rowView), next_cursor };
    },
  }),
  route('POST /v1/usage/forecast', {
    id: 'postForecast',
    summary: 'Forecast what consolidating messages will use and cost',
    description:
      'Based on what the tenant’s consolidations used in the last 35 days, per consolidation and per token read. ' +
      'Calls no model and stores nothing. Does not include summaries, what-ifs and retries.',
    body: PostForecast,
    answer: ForecastView,
    handle: async (deps, { body, request }) => {
      const { messages = 0, owners, live } = body;
      const work = { tokens: tokensOf(body), messages, owners, live };
      return forecastView(await forecastOf(deps, tenantNamed(request, body.tenant), work));
    },
  }),
];

function askedBy(query: z.infer<typeof UsageQuery>, now: Millis): UsageAsked {
  const { group_by: groups, user_id: userId, app_id: appId, key_id: keyId, step, model, cause } = query;
  const unit = groups.includes('hour') ? HOUR_MS : DAY_MS;
  const to = Math.ceil((momentOf(query.to) ?? now + 1) / unit) * unit;
  const from = Math.floor((momentOf(query.from) ?? to - USUAL_DAYS * DAY_MS) / unit) * unit;
  if (from >= to) throw problem('invalid_request', `from: expected a time before to, got ${isoOf(from)}`);
  const filter = given({ userId, appId, keyId, model, cause, step: step as UsageStep | undefined });
  const asked = { groups: [...new Set(groups)], from, to, ...filter };
  const since = Math.floor((now - CALLS_KEPT_MS) / DAY_MS) * DAY_MS;
  if (needsCalls(asked) && from < since) {
    throw problem(
      'invalid_request',
      `from: calls by hour, user, app and key are kept for 35 days; expected a time from ${isoOf(since)} on, got ${isoOf(from)}`,
    );
  }
  return asked;
}

const OFFSET = /^\d{1,9}$/u;

function offsetIn(cursor: string | undefined): number {
  if (cursor === undefined) return 0;
  if (!OFFSET.test(cursor)) throw problem('invalid_request', 'cursor: expected next_cursor of the previous page');
  return Number(cursor);
}

const sumsView = ({ calls, promptTokens, completionTokens, cost, unpriced }: UsageSums) => ({
  calls,
  prompt_tokens: promptTokens,
  completion_tokens: completionTokens,
  cost,
  unpriced_calls: unpriced,
});

/** How a group is called where it is returned. */
const GROUP_NAMES = {
  ...{ day: 'day', hour: 'hour', step: 'step', model: 'model', cause: 'cause' },
  ...{ user: 'user_id', app: 'app_id', key: 'key_id' },
} as const satisfies Record<UsageGroup, keyof UsageRowView>;

function groupText(group: UsageGroup, value: string | number | null): string | null {
  if (typeof value !== 'number') return value;
  return group === 'day' ? dateTextOf(value) : isoOf(value);
}

const rowView = ({ group, answered, refused, unanswered }: UsageRow): UsageRowView => ({
  ...Object.fromEntries(
    Object.entries(group).map(([name, value]) => [
      GROUP_NAMES[name as UsageGroup],
      groupText(name as UsageGroup, value),
    ]),
  ),
  ...sumsView(answered),
  cached_tokens: answered.cachedTokens,
  time_ms: answered.tookMs,
  refused_calls: refused,
  unanswered: sumsView(unanswered),
});

/** Spreadsheets read these as the beginning of a formula. */
const FORMULA = /^[=+\-@\t\r]/u;

function cell(value: string | number | null | undefined): string {
  if (typeof value === 'number') return String(value);
  const text = (value ?? '').replace(FORMULA, "'$&");
  return /[",\n\r]/u.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

function csvOf(rows: readonly UsageRowView[], groups: readonly UsageGroup[]): string {
  const named = groups.map((group) => GROUP_NAMES[group]);
  const sums = ['calls', 'prompt_tokens', 'completion_tokens', 'cost', 'unpriced_calls'] as const;
  const others = ['cached_tokens', 'time_ms', 'refused_calls'] as const;
  const head = [...named, ...sums, ...others, ...sums.map((name) => `unanswered_${name}`)];
  const lines = rows.map((row) => [
    ...named.map((name) => row[name]),
    ...[...sums, ...others].map((name) => row[name]),
    ...sums.map((name) => row.unanswered[name]),
  ]);
  return [head, ...lines]
    .map((line) => `${line.map((one) => cell(one as string | number | null)).join(',')}\r\n`)
    .join('');
}

/** Of English, about. */
const CHARS_PER_TOKEN = 4;
/** null: by the number of messages. */
function tokensOf({ tokens, characters }: z.infer<typeof PostForecast>): number | null {
  if (tokens !== undefined) return tokens;
  return characters === undefined ? null : Math.ceil(characters / CHARS_PER_TOKEN);
}

export const forecastView = (known: Forecast): ForecastView => ({
  consolidations: known.consolidations,
  prompt_tokens: aboutView(known.promptTokens),
  completion_tokens: aboutView(known.completionTokens),
  tokens: aboutView(known.tokens),
  cost: known.cost && { about: known.cost.about, plus_minus: known.cost.plusMinus },
  basis: { ...known.basis },
});

const aboutView = ({ about, plusMinus }: About) => ({ about: Math.round(about), plus_minus: Math.round(plusMinus) });

/** Who used far more than is usual, and is let go again. */
export const holdRoutes = [
  route('GET /v1/holds', {
    id: 'listHolds',
    summary: 'List users, apps and keys that are or were held, newest first',
    description:
      'A user, app or key that uses many times the usual daily amount (hold_at in the settings) is held: batches are accepted and wait, searches ' +
      'continue, and recalls answer without a model. A hold ends with its day (UTC).',
    query: ListHoldsQuery,
    answer: HoldList,
    handle: async ({ ledger, tools }, { tenant, query }) =>
      listed(await ledger.limits.holds(tenant, pageOf(query)), (hold) => holdView(hold, tools.now())),
  }),
  route('POST /v1/holds/:id/release', {
    id: 'releaseHold',
    summary: 'Release a hold',
    description: 'Waiting work continues within five minutes. There is no second hold on the same day.',
    params: IdParams,
    answer: HoldView,
    handle: async ({ ledger, tools }, { tenant, params, request }) => {
      const hold = await ledger.limits.release(tenant, params.id, tools.now());
      if (hold === null) throw notFound('hold', params.id);
      concerns(request, { kind: 'hold', id: hold.id });
      return holdView(hold, tools.now());
    },
  }),
];

function holdView(hold: KeptHold, now: Millis): HoldView {
  const { id, kind, who, day, measure, used, limit, heldAt, releasedAt, owner } = hold;
  const endsAt = (day + 1) * DAY_MS;
  const whose = kind === 'owner' ? { kind: owner?.kind ?? 'user', of: owner?.id ?? '' } : { kind, of: who };
  const state = releasedAt !== null ? 'released' : now < endsAt ? 'held' : 'over';
  const times = { held_at: isoOf(heldAt), released_at: isoOrNull(releasedAt), ends_at: isoOf(endsAt) };
  return { id, state, ...whose, measure, used, limit, ...times };
}
