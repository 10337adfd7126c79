import type {
  Account,
  LaneId,
  Millis,
  SentCall,
  SettledCall,
  TenantId,
  UsageAsked,
  UsageGroup,
  UsageOfModel,
  UsageOfStep,
  UsageRow,
  UsageStore,
  UsageTotals,
} from '@slowwave/engine';
import { DAY_MS, dayOf, needsCalls, payerOf } from '@slowwave/engine/storing';
import { type KeptCall, keptCalls } from './kept-thoughts.ts';
import { addToUses, HAS_ROOM, roomsGiven, usesNoted, usesSettled } from './limits.ts';
import { laneOfUser } from './page.ts';
import { past } from './past-use.ts';
import { markOf } from './rows/packed-record.ts';
import {
  all,
  allAs,
  first,
  type Given,
  type Held,
  ifHeld,
  inOne,
  once,
  read,
  run,
  type Script,
  statement,
  storeOf,
  write,
} from './script.ts';
import { added, BILLIONTHS, callsWhere, dropHours, HOUR_MS } from './usage-hours.ts';

/** What whoever accepts or erases counts, because the rows may be gone. */
type CountedHere = 'accepted' | 'erased';
/** The schema's triggers keep the others, because the rows are too many to add up. */
export const KEPT_IN_STEP = ['consolidated', 'empty', 'undone', 'memories', 'versions', 'owners'] as const;
type CounterName = CountedHere | (typeof KEPT_IN_STEP)[number];

interface Count {
  readonly tenant: TenantId;
  readonly name: CountedHere;
  readonly value: number;
}

/** Adds to counters. Last in a transaction: their rows are shared by all writers of a tenant. */
export function* count(counts: readonly Count[]): Script<void> {
  const rows = counts.filter(({ value }) => value !== 0);
  if (rows.length > 0) yield* run(ADD, { rows });
}

/** The value of a tenant's counter; 0 for one that nothing was added to. */
type Counters = (name: CounterName) => number;

export function* countersOf(tenant: TenantId): Script<Counters> {
  const rows = yield* all<{ name: CounterName; value: number }>(SUM_COUNTERS, { tenant });
  const values = new Map(rows.map((row) => [row.name, row.value]));
  return (name) => values.get(name) ?? 0;
}

/** In the place of a lane, for calls of owners who have none. */
const NO_LANE = '' as LaneId;

export const usageStore = storeOf<UsageStore>('usage', {
  note: statement(function* (call, rooms = []) {
    const { text, given } = countedFor(call);
    const held = { text: SELECT_ROOM_FOR, given: { ...given, ...roomsGiven(call.tenant, rooms) } };
    if (yield* ifHeld(held, ...noting(call))) return true;
    if ((yield* first(text, given)) !== null) return false;
    yield* inOne(...noting(call, true));
    return true;
  }),
  settle: write(function* (calls) {
    for (const call of calls) yield* settle(call);
  }),
  report: read(report),
  past: read(past),
  drop: write(function* (before, limit) {
    return (yield* run(DROP, { before, limit })) + (yield* dropHours(before, limit));
  }),
});

/** The call counts as unanswered, unless it was noted before. */
export function noting(call: SentCall, isErased = false): readonly Script<unknown>[] {
  const given = knownBy(call);
  const columns = columnsOf(call, { state: 'sent', tookMs: 0 });
  return [
    run(NOTE.days, { rows: [dayRow(call, 'unanswered', 1)], ...given }),
    ...(isErased ? [] : [run(NOTE.uses, { rows: usesNoted(call), ...given })]),
    run(NOTE.call, { ...columns, ...(isErased && NOBODYS), ...given }),
  ];
}

/** It counts as what it was, and not as unanswered any more. A call that was settled before changes nothing. */
export function settling(call: SettledCall, isErased = false): readonly Script<unknown>[] {
  const given = knownBy(call);
  const columns = columnsOf(call, { state: call.outcome, tookMs: call.tookMs });
  return [
    run(SETTLE.days, { rows: settledRows(call), ...given }),
    ...(isErased ? [] : [run(SETTLE.uses, { rows: usesSettled(call), ...given })]),
    run(SETTLE.call, { ...columns, ...(isErased && NOBODYS), ...given }),
  ];
}

export function* settle(call: SettledCall): Script<void> {
  if (!(yield* ifHeld(countedFor(call), ...settling(call)))) yield* inOne(...settling(call, true));
}

/** Of an owner who was erased meanwhile the figures of the day remain, and the call's id, so that it counts there once: nobody reads the row. */
const NOBODYS = { tenant: '', lane: NO_LANE, consolidationId: '', appId: null, keyId: null } as const;

/** The lane stays until its call is counted. */
const countedFor = ({ lane }: SentCall): Held => ({
  text: SELECT_COUNTED_FOR,
  given: { lane: lane ?? NO_LANE },
});

const SELECT_COUNTED_FOR =
  "SELECT 1 AS found WHERE (@lane = '' OR EXISTS (SELECT 1 FROM lanes WHERE id = @lane FOR KEY SHARE))";

function settledRows(call: SettledCall): readonly object[] {
  const { outcome, noted } = call;
  const settled = dayRow(call, outcome, 1);
  if (noted === null) return [settled];
  const before = dayRow({ ...call, ...noted }, 'unanswered', -1);
  if (before.model !== settled.model) return [before, settled];
  return [{ ...settled, ...Object.fromEntries(UNANSWERED.map((name) => [name, before[name]])) }];
}

type Figures = Readonly<Record<(typeof FIGURES)[number], number>>;

const ANSWERED = [
  'calls',
  'prompt_tokens',
  'cached_tokens',
  'completion_tokens',
  'cost',
  'unpriced',
  'took_ms',
] as const;
const UNANSWERED = [
  'unanswered_calls',
  'unanswered_prompt_tokens',
  'unanswered_completion_tokens',
  'unanswered_cost',
  'unanswered_unpriced',
] as const;
const FIGURES = [...ANSWERED, 'refused', ...UNANSWERED] as const;

/** What one call adds to its day, or takes away again. */
function dayRow(
  call: SentCall & { readonly tookMs?: Millis },
  outcome: SettledCall['outcome'] | 'unanswered',
  times: 1 | -1,
): Figures & { readonly model: string } {
  const { tenant, step, cause, model, usage, cost, at, tookMs = 0 } = call;
  const unpriced = cost === null ? 1 : 0;
  const figures: Figures = {
    ...(Object.fromEntries(FIGURES.map((name) => [name, 0])) as Figures),
    ...(outcome === 'answered' && {
      calls: 1,
      prompt_tokens: usage.promptTokens,
      cached_tokens: usage.cachedTokens ?? 0,
      completion_tokens: usage.completionTokens,
      cost: inBillionths(cost),
      unpriced,
      took_ms: tookMs,
    }),
    ...(outcome === 'refused' && { refused: 1 }),
    ...(outcome === 'unanswered' && {
      unanswered_calls: times,
      unanswered_prompt_tokens: times * usage.promptTokens,
      unanswered_completion_tokens: times * usage.completionTokens,
      unanswered_cost: times * inBillionths(cost),
      unanswered_unpriced: times * unpriced,
    }),
  };
  return { ...{ tenant: payerOf(tenant), day: dayOf(at), model: modelIn(model), step, cause }, ...figures };
}

const inBillionths = (cost: number | null): number => Math.round((cost ?? 0) * BILLIONTHS);

/** A server says what model it is: no ledger keeps a text with a character of zero. */
const modelIn = (model: string): string => model.replaceAll('\0', '');

const columnsOf = (call: SentCall, ended: { readonly state: string; readonly tookMs: Millis }): Given => ({
  id: call.id,
  tenant: payerOf(call.tenant),
  lane: call.lane ?? NO_LANE,
  consolidationId: call.consolidationId ?? '',
  appId: call.appId,
  keyId: call.keyId,
  step: call.step,
  cause: call.cause,
  model: modelIn(call.model),
  promptTokens: call.usage.promptTokens,
  cachedTokens: call.usage.cachedTokens ?? 0,
  completionTokens: call.usage.completionTokens,
  cost: call.cost === null ? null : inBillionths(call.cost),
  at: call.at,
  ...ended,
});

export function* usageOfTenant(tenant: TenantId): Script<UsageTotals> {
  return (yield* first<UsageTotals>(SUM_OF_TENANT, { tenant })) ?? NO_USAGE;
}

/** What single calls say; where they are too old, what its answers say. */
export function* usageOfConsolidation(id: string): Script<UsageTotals> {
  const open = (yield* first<UsageTotals>(SUM_USAGE, { id })) ?? NO_USAGE;
  const used = (yield* keptCalls(id)).map(totalsOf).reduce(added, open);
  return used.calls > 0 ? used : ((yield* first<UsageTotals>(SUM_ANSWERS, { id })) ?? NO_USAGE);
}

const totalsOf = (call: KeptCall): UsageTotals => ({
  ...{ calls: 1, failedCalls: 0, promptTokens: call.prompt_tokens },
  ...{ cachedTokens: call.cached_tokens, completionTokens: call.completion_tokens },
});

/** The use of models on the day of a moment. */
export function usageOfDay(of: { readonly tenant: TenantId } | Account, at: Millis): Script<readonly UsageOfModel[]> {
  const day = dayOf(at);
  if ('tenant' in of) return allAs(inMoney<UsageOfModel>, USAGE_OF_TENANT, { tenant: of.tenant, day });
  const times = { from: day * DAY_MS, to: (day + 1) * DAY_MS };
  if ('lane' in of) return allAs(inMoney<UsageOfModel>, USAGE_OF_LANE, { lane: of.lane, ...times });
  return allAs(inMoney<UsageOfModel>, USAGE_OF_STRANGERS, { tenant: payerOf(of.strangersOf), ...times });
}

const inMoney = <T extends UsageOfModel>(row: T): T => ({ ...row, cost: row.cost / BILLIONTHS });

/** What a tenant asked of models since the beginning of a day, by day and by what it was for. */
export const usageSinceDay = (tenant: TenantId, fromDay: number): Script<readonly UsageOfStep[]> =>
  allAs(inMoney<UsageOfStep>, USAGE_SINCE_DAY, { tenant, fromDay });

type Groups = Readonly<Partial<Record<UsageGroup, string | number | null>>>;

function* report(
  tenant: TenantId,
  asked: UsageAsked,
  page: { readonly limit: number; readonly offset: number },
): Script<readonly UsageRow[]> {
  const { groups, from, to, userId, appId, keyId, step, model, cause } = asked;
  const source = needsCalls(asked) ? CALLS : DAYS;
  const given = {
    ...{ tenant, from, to, fromDay: Math.floor(from / DAY_MS), toDay: Math.ceil(to / DAY_MS), ...page },
    ...{ userId, appId, keyId, step, model, cause },
  };
  const wanted = (Object.keys(FILTERS) as (keyof typeof FILTERS)[]).filter((name) => given[name] !== undefined);
  const where = ['tenant = @tenant', source.times, ...wanted.map((name) => FILTERS[name])].join(' AND ');
  const named = groups.map((group) => `${source.groups[group] ?? 'NULL'} AS "${group}"`);
  const order = groups.map((_, i) => i + 1).join(', ');
  const text = `
    SELECT ${[...named, source.sums].join(', ')} FROM ${source.from(where)}
    ${groups.length === 0 ? '' : `GROUP BY ${order}`} HAVING count(*) > 0
    ${groups.length === 0 ? '' : `ORDER BY ${order}`} LIMIT @limit OFFSET @offset`;
  const rows = yield* once<ReportRow>(text, Object.fromEntries(Object.entries(given).filter(isGiven)));
  return rows.map((row) => reported(row, groups));
}

const isGiven = (entry: [string, string | number | undefined]): entry is [string, string | number] =>
  entry[1] !== undefined;

type ReportRow = Readonly<Record<(typeof FIGURES)[number], number>> & Groups;

const reported = (row: ReportRow, groups: readonly UsageGroup[]): UsageRow => ({
  group: Object.fromEntries(
    groups.map((group) => [group, group === 'day' ? Number(row.day) * DAY_MS : (row[group] ?? null)]),
  ),
  answered: {
    calls: row.calls,
    promptTokens: row.prompt_tokens,
    cachedTokens: row.cached_tokens,
    completionTokens: row.completion_tokens,
    cost: row.cost / BILLIONTHS,
    unpriced: row.unpriced,
    tookMs: row.took_ms,
  },
  refused: row.refused,
  unanswered: {
    calls: row.unanswered_calls,
    promptTokens: row.unanswered_prompt_tokens,
    cachedTokens: 0,
    completionTokens: row.unanswered_completion_tokens,
    cost: row.unanswered_cost / BILLIONTHS,
    unpriced: row.unanswered_unpriced,
  },
});

interface Source {
  from(where: string): string;
  readonly times: string;
  readonly groups: Readonly<Partial<Record<UsageGroup, string>>>;
  readonly sums: string;
}

/** For ever, and by day alone. */
const DAYS: Source = {
  from: (where) => `usage_days u WHERE ${where}`,
  times: 'day >= @fromDay AND day < @toDay',
  groups: { day: 'u.day', step: 'u.step COLLATE "C"', model: 'u.model COLLATE "C"', cause: 'u.cause COLLATE "C"' },
  sums: FIGURES.map((name) => `sum(u.${name})::bigint AS ${name}`).join(', '),
};

const sumIf = (state: string, value: string, name: string): string =>
  `coalesce(sum(${value}) FILTER (WHERE u.state = '${state}'), 0)::bigint AS ${name}`;

const sumsOf = (state: string, prefix: string): readonly string[] => [
  sumIf(state, 'u.calls', `${prefix}calls`),
  sumIf(state, 'u.prompt_tokens', `${prefix}prompt_tokens`),
  sumIf(state, 'u.completion_tokens', `${prefix}completion_tokens`),
  sumIf(state, 'u.cost', `${prefix}cost`),
  sumIf(state, 'u.unpriced', `${prefix}unpriced`),
];

/** Single calls and those of hours, for as long as they are kept. Nobody asks for parts of an hour. */
const CALLS: Source = {
  from: (where) => `${callsWhere(where)} AS u LEFT JOIN lanes l ON l.id = u.lane`,
  times: 'at >= @from AND at < @to',
  groups: {
    ...DAYS.groups,
    day: `(u.at / ${DAY_MS})`,
    hour: `(u.at - u.at % ${HOUR_MS})`,
    user: `(CASE WHEN l.owner_kind = 'user' THEN l.owner_id END)`,
    app: 'u.app_id COLLATE "C"',
    key: 'u.key_id COLLATE "C"',
  },
  sums: [
    ...sumsOf('answered', ''),
    sumIf('answered', 'u.cached_tokens', 'cached_tokens'),
    sumIf('answered', 'u.took_ms', 'took_ms'),
    sumIf('refused', 'u.calls', 'refused'),
    ...sumsOf('sent', 'unanswered_'),
  ].join(', '),
};

const FILTERS = {
  userId: laneOfUser('lane'),
  appId: 'app_id = @appId',
  keyId: 'key_id = @keyId',
  step: 'step = @step',
  model: 'model = @model',
  cause: 'cause = @cause',
};

const NO_USAGE: UsageTotals = { calls: 0, failedCalls: 0, promptTokens: 0, cachedTokens: 0, completionTokens: 0 };

/** Rows are taken in one order, so that nobody waits in a circle. */
const ADD = `
  INSERT INTO counters (tenant, name, slot, value)
  SELECT value ->> 'tenant' AS tenant, value ->> 'name' AS name, :slot, sum((value ->> 'value')::bigint)
  FROM :rows AS r WHERE true GROUP BY 1, 2 ORDER BY 1, 2
  ON CONFLICT (tenant, name, slot) DO UPDATE SET value = counters.value + excluded.value`;

const SUM_COUNTERS = 'SELECT name, sum(value)::bigint AS value FROM counters WHERE tenant = @tenant GROUP BY name';

const knownBy = ({ id, consolidationId }: SentCall) => ({
  callId: id,
  calledFor: consolidationId ?? '',
  mark: markOf(id).toString('hex'),
});

/** A call is a row, or is kept with the consolidation that it was made for. */
const isUnknown = (settled = ''): string => `
  NOT EXISTS (SELECT 1 FROM usage WHERE id = @callId ${settled})
  AND NOT EXISTS (SELECT 1 FROM consolidations WHERE id = @calledFor AND position(decode(@mark, 'hex') IN thought) > 0)`;

/** Each connection has its slot, as with counters. */
const addToDays = (condition: string): string => `
  INSERT INTO usage_days (tenant, day, model, step, cause, slot, ${FIGURES.join(', ')})
  SELECT value ->> 'tenant' AS tenant, (value ->> 'day')::int AS day, value ->> 'model' AS model, value ->> 'step' AS step,
    value ->> 'cause' AS cause, :slot, ${FIGURES.map((name) => `(value ->> '${name}')::bigint`).join(', ')}
  FROM :rows AS r WHERE ${condition} ORDER BY 1, 2, 3, 4, 5
  ON CONFLICT (tenant, day, model, step, cause, slot) DO UPDATE SET
    ${FIGURES.map((name) => `${name} = usage_days.${name} + excluded.${name}`).join(', ')}`;

const insertCall = (condition: string, onConflict: string): string => `
  INSERT INTO usage (
    id, tenant, lane, consolidation_id, app_id, key_id, step, cause, model, state, prompt_tokens, cached_tokens,
    completion_tokens, cost, took_ms, at)
  SELECT @id, @tenant, @lane, @consolidationId, @appId, @keyId, @step, @cause, @model, @state, @promptTokens,
    @cachedTokens, @completionTokens, @cost, @tookMs, @at
  WHERE ${condition} ${onConflict}`;

const SELECT_ROOM_FOR = `${SELECT_COUNTED_FOR} AND ${HAS_ROOM}`;

/** What a call changes, under a condition. A text that is put together for each run is looked up slowly. */
const counting = (condition: string, onConflict: string) => ({
  days: addToDays(condition),
  uses: addToUses(condition),
  call: insertCall(condition, onConflict),
});

const NOTE = counting(`:held AND ${isUnknown()}`, 'ON CONFLICT (id) DO NOTHING');

const SETTLED = `ON CONFLICT (id) DO UPDATE SET
  model = excluded.model, state = excluded.state, prompt_tokens = excluded.prompt_tokens,
  cached_tokens = excluded.cached_tokens, completion_tokens = excluded.completion_tokens, cost = excluded.cost,
  took_ms = excluded.took_ms
  WHERE usage.state = 'sent'`;

const SETTLE = counting(`:held AND ${isUnknown("AND state <> 'sent'")}`, SETTLED);

const DROP = `
  DELETE FROM usage WHERE :place IN (SELECT :place FROM usage WHERE at < @before ORDER BY at LIMIT @limit)`;

const SUM_USAGE = `
  SELECT count(*) AS calls, count(*) FILTER (WHERE state <> 'answered') AS "failedCalls",
    coalesce(sum(prompt_tokens), 0)::bigint AS "promptTokens", coalesce(sum(cached_tokens), 0)::bigint AS "cachedTokens",
    coalesce(sum(completion_tokens), 0)::bigint AS "completionTokens"
  FROM usage WHERE consolidation_id = @id`;

const SUM_ANSWERS = `
  SELECT count(*) AS calls, 0 AS "failedCalls", coalesce(sum(prompt_tokens), 0)::bigint AS "promptTokens",
    0 AS "cachedTokens", coalesce(sum(completion_tokens), 0)::bigint AS "completionTokens"
  FROM answers WHERE consolidation_id = @id AND former IS NULL`;

const usageWhere = (whose: string): string => `
  SELECT u.model, u.step, sum(u.calls)::bigint AS calls,
    coalesce(sum(u.calls) FILTER (WHERE u.state <> 'answered'), 0)::bigint AS "failedCalls",
    sum(u.prompt_tokens)::bigint AS "promptTokens", sum(u.cached_tokens)::bigint AS "cachedTokens",
    sum(u.completion_tokens)::bigint AS "completionTokens", sum(u.cost)::bigint AS cost
  FROM ${callsWhere(`${whose} AND at >= @from AND at < @to`)} AS u
  GROUP BY model, step ORDER BY model COLLATE "C", step COLLATE "C"`;

const USAGE_OF_LANE = usageWhere('lane = @lane');
/** The same index has them, those of all tenants together. */
const USAGE_OF_STRANGERS = usageWhere("lane = '' AND tenant = @tenant");

/** What was not answered counts by estimate: it may have been paid for. */
const TOTALS = `
  coalesce(sum(calls + refused + unanswered_calls), 0)::bigint AS calls,
  coalesce(sum(refused + unanswered_calls), 0)::bigint AS "failedCalls",
  coalesce(sum(prompt_tokens + unanswered_prompt_tokens), 0)::bigint AS "promptTokens",
  coalesce(sum(cached_tokens), 0)::bigint AS "cachedTokens",
  coalesce(sum(completion_tokens + unanswered_completion_tokens), 0)::bigint AS "completionTokens"`;

const SUM_OF_TENANT = `SELECT ${TOTALS} FROM usage_days WHERE tenant = @tenant`;

/** What was not answered counts here, too. */
const MONEY = 'coalesce(sum(cost + unanswered_cost), 0)::bigint AS cost';

const USAGE_OF_TENANT = `
  SELECT model, step, ${TOTALS}, ${MONEY} FROM usage_days WHERE tenant = @tenant AND day = @day
  GROUP BY model, step ORDER BY model COLLATE "C", step COLLATE "C"`;

const USAGE_SINCE_DAY = `
  SELECT day, step, model, ${TOTALS}, ${MONEY}
  FROM usage_days WHERE tenant = @tenant AND day >= @fromDay
  GROUP BY day, model, step ORDER BY day, model COLLATE "C", step COLLATE "C"`;
