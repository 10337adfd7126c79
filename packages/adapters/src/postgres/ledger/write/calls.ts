import type { SummaryCall, TenantId } from '@slowwave/engine';
import type { Sql } from '../sql.ts';
import { count } from './counters.ts';

/** Counts one call of a model, and what it used. */
export async function countCall(
  sql: Sql,
  of: { tenant: TenantId; consolidationId: string },
  { step, model, failed, usage, at }: SummaryCall,
): Promise<void> {
  const { tenant, consolidationId } = of;
  await sql.run(INSERT_USAGE, { tenant, consolidationId, step, model, failed, ...usage, at });
  await count(sql, [
    { tenant, name: 'calls', value: 1 },
    { tenant, name: 'failed_calls', value: failed ? 1 : 0 },
    { tenant, name: 'prompt_tokens', value: usage.promptTokens },
    { tenant, name: 'completion_tokens', value: usage.completionTokens },
  ]);
}

const INSERT_USAGE = `
  INSERT INTO usage (tenant, consolidation_id, step, model, failed, prompt_tokens, completion_tokens, at)
  VALUES (@tenant, @consolidationId, @step, @model, @failed, @promptTokens, @completionTokens, @at)`;
