import type { KnownVectors, LaneId, ModelCall, Plan, Stored, StoredAnswer, Turn } from '@slowwave/engine';
import { bytesOf } from '../../../ledger/vectors.ts';
import { insertRows, type Table } from '../insert.ts';
import type { Sql } from '../sql.ts';
import { type Caller, countCall } from './calls.ts';
import { laneOfTurn } from './lanes.ts';

/** Keeps a model answer and counts its usage; the same answer twice is kept and counted once. */
export async function storeAnswer(sql: Sql, { turn, answer }: { turn: Turn; answer: StoredAnswer }): Promise<Stored> {
  if ((await laneOfTurn(sql, turn)) === null) return { kind: 'fenced' };
  const isNew = await keepAnswer(sql, turn, answer);
  if (isNew && answer.step.startsWith('extract')) await setStage(sql, turn.consolidationId, 'decide');
  return { kind: 'stored' };
}

/** Answers whether it was not there yet. */
export async function keepAnswer(sql: Sql, by: Caller, answer: StoredAnswer): Promise<boolean> {
  const { usage, ...columns } = answer;
  const added = await sql.run(INSERT_ANSWER, { ...columns, ...usage, id: by.consolidationId });
  if (added > 0) await countCall(sql, by, { ...answer, failed: false });
  return added > 0;
}

/** Counts whoever asked: the call was made, even by a turn that has lost its lane. */
export async function countFailedCall(sql: Sql, { turn, call }: { turn: Caller; call: ModelCall }): Promise<void> {
  await countCall(sql, turn, { ...call, failed: true });
}

/** A plan is stored before anything changes. */
export async function storePlan(sql: Sql, { turn, plan }: { turn: Turn; plan: Plan }): Promise<Stored> {
  if ((await laneOfTurn(sql, turn)) === null) return { kind: 'fenced' };
  const id = turn.consolidationId;
  await sql.run(UPSERT_PLAN, { id, round: plan.round, plan: JSON.stringify(plan) });
  await sql.run("UPDATE consolidations SET state = 'planned' WHERE id = @id", { id });
  await setStage(sql, id, 'apply');
  return { kind: 'stored' };
}

/** Keeps vectors of texts, so that they are embedded once. In one order, so that nobody waits in a circle. */
export async function storeVectors(
  sql: Sql,
  { lane, fingerprint, vectors }: { lane: LaneId; fingerprint: string; vectors: KnownVectors },
): Promise<void> {
  const lock = 'SELECT 1 FROM lanes WHERE id = @lane AND erasure IS NULL FOR KEY SHARE';
  if ((await sql.get(lock, { lane })) === null) return; // erased in the meantime
  const rows = [...vectors].map(([textHash, vector]) => ({
    lane,
    fingerprint,
    text_hash: textHash,
    vector: bytesOf(vector),
  }));
  rows.sort((a, b) => (a.text_hash < b.text_hash ? -1 : 1));
  await insertRows(sql, VECTORS, rows);
}

async function setStage(sql: Sql, id: string, stage: 'decide' | 'apply'): Promise<void> {
  await sql.run("UPDATE batches SET stage = @stage WHERE consolidation_id = @id AND state = 'consolidating'", {
    id,
    stage,
  });
}

const INSERT_ANSWER = `
  INSERT INTO answers (
    consolidation_id, step, input_hash, text, truncated, model, prompt_tokens, completion_tokens, at
  ) VALUES (
    @id, @step, @inputHash, @text, @truncated, @model, @promptTokens, @completionTokens, @at
  ) ON CONFLICT (consolidation_id, step, input_hash) DO NOTHING`;

const UPSERT_PLAN = `
  INSERT INTO plans (consolidation_id, round, plan) VALUES (@id, @round, @plan::jsonb)
  ON CONFLICT (consolidation_id, round) DO UPDATE SET plan = excluded.plan`;

const VECTORS: Table<'lane' | 'fingerprint' | 'text_hash' | 'vector'> = {
  name: 'vectors',
  columns: { lane: 'text', fingerprint: 'text', text_hash: 'text', vector: 'bytea' },
  onConflict: 'ON CONFLICT (lane, fingerprint, text_hash) DO NOTHING',
};
