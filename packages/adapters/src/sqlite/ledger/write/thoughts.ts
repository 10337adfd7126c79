import type { KnownVectors, LaneId, ModelCall, Plan, Stored, StoredAnswer, Turn } from '@slowwave/engine';
import { bytesOf } from '../../../ledger/vectors.ts';
import type { Sql } from '../sql.ts';
import { type Caller, countCall } from './calls.ts';
import { laneOfTurn } from './lanes.ts';

/** Keeps a model answer and counts its usage; the same answer twice is kept and counted once. */
export function storeAnswer(sql: Sql, { turn, answer }: { turn: Turn; answer: StoredAnswer }): Stored {
  if (laneOfTurn(sql, turn) === null) return { kind: 'fenced' };
  const isNew = keepAnswer(sql, turn, answer);
  if (isNew && answer.step.startsWith('extract')) setStage(sql, turn.consolidationId, 'decide');
  return { kind: 'stored' };
}

/** Answers whether it was not there yet. */
export function keepAnswer(sql: Sql, by: Caller, answer: StoredAnswer): boolean {
  const { usage, truncated, ...columns } = answer;
  const id = by.consolidationId;
  const added = sql.run(INSERT_ANSWER, { ...columns, ...usage, id, truncated: truncated ? 1 : 0 });
  if (added === 0) return false;
  const { step, model, at } = answer;
  countCall(sql, by, { step, model, failed: false, usage, at });
  return true;
}

/** Counts whoever asked: the call was made, even by a turn that has lost its lane. */
export function countFailedCall(sql: Sql, { turn, call }: { turn: Caller; call: ModelCall }): void {
  countCall(sql, turn, { ...call, failed: true });
}

/** A plan is stored before anything changes. */
export function storePlan(sql: Sql, { turn, plan }: { turn: Turn; plan: Plan }): Stored {
  if (laneOfTurn(sql, turn) === null) return { kind: 'fenced' };
  const id = turn.consolidationId;
  sql.run(UPSERT_PLAN, { id, round: plan.round, plan: JSON.stringify(plan) });
  sql.run("UPDATE consolidations SET state = 'planned' WHERE id = @id", { id });
  setStage(sql, id, 'apply');
  return { kind: 'stored' };
}

/** Keeps vectors of texts, so that they are embedded once. */
export function storeVectors(
  sql: Sql,
  { lane, fingerprint, vectors }: { lane: LaneId; fingerprint: string; vectors: KnownVectors },
): void {
  for (const [textHash, vector] of vectors) {
    sql.run(INSERT_VECTOR, { lane, fingerprint, textHash, vector: bytesOf(vector) });
  }
}

function setStage(sql: Sql, id: string, stage: 'decide' | 'apply'): void {
  sql.run("UPDATE batches SET stage = @stage WHERE consolidation_id = @id AND state = 'consolidating'", { id, stage });
}

const INSERT_ANSWER = `
  INSERT INTO answers (
    consolidation_id, step, input_hash, text, truncated, model, prompt_tokens, completion_tokens, at
  ) VALUES (
    @id, @step, @inputHash, @text, @truncated, @model, @promptTokens, @completionTokens, @at
  ) ON CONFLICT (consolidation_id, step, input_hash) DO NOTHING`;

const UPSERT_PLAN = `
  INSERT INTO plans (consolidation_id, round, plan) VALUES (@id, @round, @plan)
  ON CONFLICT (consolidation_id, round) DO UPDATE SET plan = excluded.plan`;

const INSERT_VECTOR = `
  INSERT INTO vectors (lane, fingerprint, text_hash, vector)
  SELECT id, @fingerprint, @textHash, @vector FROM lanes WHERE id = @lane AND erasure IS NULL
  ON CONFLICT (lane, fingerprint, text_hash) DO NOTHING`;
