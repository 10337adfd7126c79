import { dayOf, type LaneId, payerOf, type SummaryCall, type TenantId } from '@slowwave/engine';
import type { Sql } from '../sql.ts';
import { count } from './counters.ts';

/** In the place of a lane, for calls of owners who have none. */
export const NO_LANE = '' as LaneId;

export interface Caller {
  readonly tenant: TenantId;
  readonly lane: LaneId;
  /** Empty for a call that belongs to none. */
  readonly consolidationId: string;
}

/** Counts one call of a model, and what it used. */
export async function countCall(sql: Sql, of: Caller, { step, model, failed, usage, at }: SummaryCall): Promise<void> {
  const { tenant, lane, consolidationId } = of;
  await sql.run(INSERT_USAGE, { tenant, lane, consolidationId, step, model, failed, ...usage, at });
  const payer = payerOf(tenant);
  await sql.run(ADD_TO_DAY, { tenant: payer, day: dayOf(at), model, failed: failed ? 1 : 0, ...usage });
  await count(sql, [
    { tenant: payer, name: 'calls', value: 1 },
    { tenant: payer, name: 'failed_calls', value: failed ? 1 : 0 },
    { tenant: payer, name: 'prompt_tokens', value: usage.promptTokens },
    { tenant: payer, name: 'completion_tokens', value: usage.completionTokens },
  ]);
}

const INSERT_USAGE = `
  INSERT INTO usage (tenant, lane, consolidation_id, step, model, failed, prompt_tokens, completion_tokens, at)
  VALUES (@tenant, coalesce((SELECT id FROM lanes WHERE id = @lane), ''), @consolidationId, @step, @model, @failed, @promptTokens, @completionTokens, @at)`;

/** Each connection has its slot, as with counters. */
const ADD_TO_DAY = `
  INSERT INTO usage_days (tenant, day, model, slot, calls, failed_calls, prompt_tokens, completion_tokens)
  VALUES (@tenant, @day, @model, pg_backend_pid() % 16, 1, @failed, @promptTokens, @completionTokens)
  ON CONFLICT (tenant, day, model, slot) DO UPDATE SET
    calls = usage_days.calls + 1, failed_calls = usage_days.failed_calls + excluded.failed_calls,
    prompt_tokens = usage_days.prompt_tokens + excluded.prompt_tokens,
    completion_tokens = usage_days.completion_tokens + excluded.completion_tokens`;
