import type {
  Account,
  LaneId,
  Millis,
  SummaryCall,
  TenantId,
  UsageOfModel,
  UsageOfStep,
  UsageTotals,
} from '@slowwave/engine';
import { DAY_MS, dayOf, payerOf, usageStepOf } from '@slowwave/engine/storing';
import { all, first, type Held, run, type Script } from './script.ts';

/** What is counted per tenant because its rows may be gone (erased) or are too many to add up. */
type CounterName = 'accepted' | 'erased' | 'calls' | 'failed_calls' | 'prompt_tokens' | 'completion_tokens';

interface Count {
  readonly tenant: TenantId;
  readonly name: CounterName;
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
export const NO_LANE = '' as LaneId;

export interface Caller {
  readonly tenant: TenantId;
  readonly lane: LaneId;
  /** Empty for a call that belongs to none. */
  readonly consolidationId: string;
}

/** Counts one call of a model, and what it used. `unless`: a select that finds it was counted before. */
export function counting(
  { tenant, lane, consolidationId }: Caller,
  call: SummaryCall,
  unless: Held | null = null,
): readonly Script<unknown>[] {
  const { step, model, usage, at } = call;
  const failed = call.failed ? 1 : 0;
  const payer = payerOf(tenant);
  const condition = unless === null ? ':held' : `:held AND NOT EXISTS (${unless.text})`;
  const rows = [
    { tenant: payer, name: 'calls', value: 1 },
    { tenant: payer, name: 'failed_calls', value: failed },
    { tenant: payer, name: 'prompt_tokens', value: usage.promptTokens },
    { tenant: payer, name: 'completion_tokens', value: usage.completionTokens },
  ].filter(({ value }) => value !== 0);
  return [
    run(insertUsage(condition), {
      tenant,
      lane,
      consolidationId,
      step,
      model,
      failed,
      ...usage,
      at,
      ...unless?.given,
    }),
    run(addToDay(condition), {
      ...{ tenant: payer, day: dayOf(at), model, step: usageStepOf(step), failed, ...usage },
      ...unless?.given,
    }),
    run(add(condition), { rows, ...unless?.given }),
  ];
}

export function* usageOfTenant(tenant: TenantId): Script<UsageTotals> {
  const counters = yield* countersOf(tenant);
  return {
    calls: counters('calls'),
    failedCalls: counters('failed_calls'),
    promptTokens: counters('prompt_tokens'),
    completionTokens: counters('completion_tokens'),
  };
}

export function* usageOfConsolidation(id: string): Script<UsageTotals> {
  return (yield* first<UsageTotals>(SUM_USAGE, { id })) ?? NO_USAGE;
}

/** The use of models on the day of a moment. */
export function usageOfDay(of: { readonly tenant: TenantId } | Account, at: Millis): Script<readonly UsageOfModel[]> {
  const day = dayOf(at);
  if ('tenant' in of) return all(USAGE_OF_TENANT, { tenant: of.tenant, day });
  const times = { from: day * DAY_MS, to: (day + 1) * DAY_MS };
  if ('lane' in of) return all(USAGE_OF_LANE, { lane: of.lane, ...times });
  return all(USAGE_OF_STRANGERS, { tenant: of.strangersOf, ...times });
}

/** What a tenant asked of models since the beginning of a day, by day and by what it was for. */
export const usageSinceDay = (tenant: TenantId, fromDay: number): Script<readonly UsageOfStep[]> =>
  all(USAGE_SINCE_DAY, { tenant, fromDay });

const NO_USAGE: UsageTotals = { calls: 0, failedCalls: 0, promptTokens: 0, completionTokens: 0 };

/** Rows are taken in one order, so that nobody waits in a circle. */
const add = (condition: string): string => `
  INSERT INTO counters (tenant, name, slot, value)
  SELECT value ->> 'tenant' AS tenant, value ->> 'name' AS name, :slot, sum((value ->> 'value')::bigint)
  FROM :rows AS r WHERE ${condition} GROUP BY 1, 2 ORDER BY 1, 2
  ON CONFLICT (tenant, name, slot) DO UPDATE SET value = counters.value + excluded.value`;

const ADD = add('true');

const SUM_COUNTERS = 'SELECT name, sum(value)::bigint AS value FROM counters WHERE tenant = @tenant GROUP BY name';

const insertUsage = (condition: string): string => `
  INSERT INTO usage (tenant, lane, consolidation_id, step, model, failed, prompt_tokens, completion_tokens, at)
  SELECT @tenant, coalesce((SELECT id FROM lanes WHERE id = @lane), ''), @consolidationId, @step, @model,
    @failed::boolean, @promptTokens, @completionTokens, @at
  WHERE ${condition}`;

/** Each connection has its slot, as with counters. */
const addToDay = (condition: string): string => `
  INSERT INTO usage_days (tenant, day, model, step, slot, calls, failed_calls, prompt_tokens, completion_tokens)
  SELECT @tenant, @day, @model, @step, :slot, 1, @failed, @promptTokens, @completionTokens WHERE ${condition}
  ON CONFLICT (tenant, day, model, step, slot) DO UPDATE SET
    calls = usage_days.calls + 1, failed_calls = usage_days.failed_calls + excluded.failed_calls,
    prompt_tokens = usage_days.prompt_tokens + excluded.prompt_tokens,
    completion_tokens = usage_days.completion_tokens + excluded.completion_tokens`;

const SUM_USAGE = `
  SELECT count(*) AS calls, count(*) FILTER (WHERE failed) AS "failedCalls",
    coalesce(sum(prompt_tokens), 0)::bigint AS "promptTokens",
    coalesce(sum(completion_tokens), 0)::bigint AS "completionTokens"
  FROM usage WHERE consolidation_id = @id`;

const usageWhere = (whose: string): string => `
  SELECT model, count(*) AS calls, count(*) FILTER (WHERE failed) AS "failedCalls",
    sum(prompt_tokens)::bigint AS "promptTokens", sum(completion_tokens)::bigint AS "completionTokens"
  FROM usage WHERE ${whose} AND at >= @from AND at < @to GROUP BY model ORDER BY model COLLATE "C"`;

const USAGE_OF_LANE = usageWhere('lane = @lane');
/** The same index has them, those of all tenants together. */
const USAGE_OF_STRANGERS = usageWhere("lane = '' AND tenant = @tenant");

const USAGE_OF_TENANT = `
  SELECT model, sum(calls)::bigint AS calls, sum(failed_calls)::bigint AS "failedCalls",
    sum(prompt_tokens)::bigint AS "promptTokens", sum(completion_tokens)::bigint AS "completionTokens"
  FROM usage_days WHERE tenant = @tenant AND day = @day GROUP BY model ORDER BY model COLLATE "C"`;

const USAGE_SINCE_DAY = `
  SELECT day, step, model, sum(calls)::bigint AS calls, sum(failed_calls)::bigint AS "failedCalls",
    sum(prompt_tokens)::bigint AS "promptTokens", sum(completion_tokens)::bigint AS "completionTokens"
  FROM usage_days WHERE tenant = @tenant AND day >= @fromDay
  GROUP BY day, model, step ORDER BY day, model COLLATE "C", step COLLATE "C"`;
