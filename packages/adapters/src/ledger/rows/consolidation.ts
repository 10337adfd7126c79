import type { Consolidation, LaneId, StoredAnswer, TenantId } from '@slowwave/engine';
import { unpacked } from '../../packed.ts';
import { laneIdOf } from '../page.ts';
import { type ScopeColumns, scopeFrom } from './columns.ts';

export interface ConsolidationRow extends ScopeColumns {
  readonly id: string;
  readonly tenant: TenantId;
  readonly lane: LaneId;
  readonly state: Consolidation['state'];
  readonly batch_ids: string;
  readonly variant: string | null;
  readonly rung: number | null;
  readonly attempts: number;
  readonly failure: string | null;
  readonly created_at: number;
  readonly applied_at: number | null;
  readonly stripped_at: number | null;
}

/** Consolidations with their scope's columns; add a WHERE on `c`. */
export const SELECT_CONSOLIDATIONS = `
  SELECT c.*, ${laneIdOf('c.lane')} AS lane, s.user_id, s.agent_id, s.run_id, s.app_id
  FROM consolidations c JOIN scopes s ON s.id = c.scope`;

export const consolidationFrom = (row: ConsolidationRow): Consolidation => ({
  id: row.id,
  tenant: row.tenant,
  lane: row.lane,
  scope: scopeFrom(row),
  state: row.state,
  batchIds: JSON.parse(row.batch_ids),
  variant: row.variant,
  ...(row.rung !== null && { rung: row.rung }),
  attempts: row.attempts,
  failure: row.failure === null ? null : JSON.parse(row.failure),
  createdAt: row.created_at,
  appliedAt: row.applied_at,
  ...(row.stripped_at !== null && { removedAt: row.stripped_at }),
});

export interface AnswerRow {
  /** Its place in the order they came. */
  readonly seq: number;
  readonly consolidation_id: string;
  readonly step: string;
  readonly input_hash: string;
  readonly text: Uint8Array;
  readonly truncated: 0 | 1;
  readonly model: string;
  readonly prompt_tokens: number;
  readonly cached_tokens: number;
  readonly completion_tokens: number;
  readonly at: number;
  readonly former: string | null;
}

/** A row, or with its text as it was said. */
export type AnswerOf = Omit<AnswerRow, 'seq' | 'text'> & { readonly text: Uint8Array | string };

export const answerFrom = (row: AnswerOf): StoredAnswer => ({
  step: row.step,
  inputHash: row.input_hash,
  text: typeof row.text === 'string' ? row.text : unpacked(row.text),
  truncated: row.truncated === 1,
  model: row.model,
  usage: {
    promptTokens: row.prompt_tokens,
    completionTokens: row.completion_tokens,
    ...(row.cached_tokens > 0 && { cachedTokens: row.cached_tokens }),
  },
  at: row.at,
  ...(row.former !== null && { former: row.former }),
});
