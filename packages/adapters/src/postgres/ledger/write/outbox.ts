import type { LaneId, SetAside, TenantId, Told } from '@slowwave/engine';
import { retell, setAside } from '../../../ledger/set-aside.ts';
import { LOST, NOTE_TOLD, UNTOLD } from '../../../ledger/speech.ts';
import { runScript } from '../script.ts';
import type { Sql } from '../sql.ts';
import { tellOfBatches } from './batch-ends.ts';
import { lockLanes } from './lanes.ts';

/**
 * The index was told of all this. Whoever clears entries of a consolidation holds its lock: of two at once, the second
 * must see that the first took the others. Answers with when the batches that are searchable by it were accepted.
 */
export async function clearOutbox(
  sql: Sql,
  { told: { seqs, batches }, now }: { told: Told; now: number },
): Promise<number[]> {
  const rows = await sql.all<{ id: string }>(LOCK_CONSOLIDATIONS, { seqs, batches: batches.map(({ id }) => id) });
  await sql.run('DELETE FROM outbox WHERE seq = ANY(@seqs::bigint[])', { seqs });
  // In one order, whoever does it: of two that wait for each other's rows one would be refused.
  for (const batch of batches.toSorted((a, b) => (a.id < b.id ? -1 : 1))) await sql.run(NOTE_TOLD, { ...batch });
  return finishProjected(
    sql,
    rows.map((row) => row.id),
    now,
  );
}

/** Both look whether a lane is being erased: until they are written, it is not. */
export async function setLanesAside(sql: Sql, lanes: readonly SetAside[]): Promise<void> {
  const ids = lanes.map(({ lane }) => lane);
  await lockLanes(sql, ids);
  await runScript(sql, setAside(lanes));
}

export async function retellLane(sql: Sql, lane: LaneId): Promise<void> {
  await lockLanes(sql, [lane]);
  await runScript(sql, retell(lane));
}

/** Applied batches whose consolidation has nothing left to tell become what apply said. */
async function finishProjected(sql: Sql, ids: readonly string[], now: number): Promise<number[]> {
  if (ids.length === 0) return [];
  const finished = await sql.all<Finished>(FINISH, { ids, now });
  await tellOfBatches(sql, finished, now);
  return finished.map((row) => row.accepted_at);
}

/**
 * All memories again, a slice at a time so that no transaction is long. Entries get new numbers: one that was read
 * before may still be projected into the index that was lost, and cleared.
 */
export async function refillOutbox(
  sql: Sql,
  { after, limit }: { after: string; limit: number },
): Promise<{ last: string | null; filled: number }> {
  const slice = await sql.all<{ id: string }>(SELECT_SLICE, { after, limit });
  if (slice.length === 0) return { last: null, filled: 0 };
  const ids = slice.map((row) => row.id);
  await sql.run(FORGET_EXPLICIT, { ids });
  await sql.run(REFILL, { ids });
  await sql.run(REFILLED_TO);
  return { last: ids.at(-1) ?? null, filled: ids.length };
}

/** The same of applied batches, with the messages of each. What is told to the lost index meanwhile is told once more. */
export async function refillSpeech(
  sql: Sql,
  { after, limit }: { after: string; limit: number },
): Promise<{ last: string | null }> {
  const slice = await sql.all<{ id: string }>(SELECT_APPLIED, { after, limit });
  await sql.run(FORGET_TOLD, { ids: slice.map(({ id }) => id) });
  return { last: slice.at(-1)?.id ?? null };
}

const SELECT_APPLIED = `
  SELECT id FROM batches WHERE id > @after AND outcome IS NOT NULL ORDER BY id LIMIT @limit FOR NO KEY UPDATE`;

const FORGET_TOLD = `
  UPDATE batches SET told_revision = ${LOST}, speech_revision = speech_revision + 1 WHERE id = ANY(@ids::text[])`;

const LOCK_CONSOLIDATIONS = `
  SELECT id FROM consolidations
  WHERE id IN (
    SELECT consolidation_id FROM outbox WHERE seq = ANY(@seqs::bigint[])
    UNION SELECT consolidation_id FROM batches WHERE id = ANY(@batches::text[]))
  ORDER BY id FOR NO KEY UPDATE`;

interface Finished {
  readonly accepted_at: number;
  readonly id: string;
  readonly tenant: TenantId;
}

const FINISH = `
  UPDATE batches SET state = outcome, stage = 'done', searchable_at = @now
  WHERE consolidation_id = ANY(@ids::text[]) AND state = 'consolidating' AND outcome IS NOT NULL
    AND NOT EXISTS (SELECT 1 FROM outbox o WHERE o.consolidation_id = batches.consolidation_id)
    AND NOT EXISTS (
      SELECT 1 FROM batches b
      WHERE b.consolidation_id = batches.consolidation_id AND b.outcome IS NOT NULL AND ${UNTOLD})
  RETURNING accepted_at, id, tenant`;

const SELECT_SLICE = 'SELECT id FROM memories WHERE id > @after ORDER BY id LIMIT @limit';

const FORGET_EXPLICIT = 'DELETE FROM outbox WHERE consolidation_id IS NULL AND memory_id = ANY(@ids::text[])';

const REFILL = `
  INSERT INTO outbox (memory_id, tenant, lane)
  SELECT id, tenant, lane FROM memories WHERE id = ANY(@ids::text[]) ORDER BY id`;

/** Until the entries up to this number are told, the index misses memories. */
const REFILLED_TO = `
  INSERT INTO meta (key, value) SELECT 'outbox_refilled_to', coalesce(max(seq), 0)::text FROM outbox
  ON CONFLICT (key) DO UPDATE SET value = excluded.value`;
