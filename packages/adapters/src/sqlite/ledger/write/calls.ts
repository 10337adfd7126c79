import type { LaneId, SummaryCall, TenantId } from '@slowwave/engine';
import { dayOf, payerOf } from '@slowwave/engine/storing';
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
export function countCall(sql: Sql, { tenant, lane, consolidationId }: Caller, call: SummaryCall): void {
  const { step, model, usage, at } = call;
  const failed = call.failed ? 1 : 0;
  sql.run(INSERT_USAGE, { tenant, lane, consolidationId, step, model, failed, ...usage, at });
  const payer = payerOf(tenant);
  sql.run(ADD_TO_DAY, { tenant: payer, day: dayOf(at), model, failed, ...usage });
  const { promptTokens, completionTokens } = usage;
  count(sql, payer, {
    calls: 1,
    failed_calls: failed,
    prompt_tokens: promptTokens,
    completion_tokens: completionTokens,
  });
}

const INSERT_USAGE = `
  INSERT INTO usage (tenant, lane, consolidation_id, step, model, failed, prompt_tokens, completion_tokens, at)
  VALUES (@tenant, coalesce((SELECT id FROM lanes WHERE id = @lane), ''), @consolidationId, @step, @model, @failed, @promptTokens, @completionTokens, @at)`;

const ADD_TO_DAY = `
  INSERT INTO usage_days (tenant, day, model, calls, failed_calls, prompt_tokens, completion_tokens)
  VALUES (@tenant, @day, @model, 1, @failed, @promptTokens, @completionTokens)
  ON CONFLICT (tenant, day, model) DO UPDATE SET
    calls = calls + 1, failed_calls = failed_calls + excluded.failed_calls,
    prompt_tokens = prompt_tokens + excluded.prompt_tokens,
    completion_tokens = completion_tokens + excluded.completion_tokens`;
