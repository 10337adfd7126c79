import type { LaneId, SetAside, TenantId, Told } from '@slowwave/engine';
import { retell, setAside, takeUp } from '../../../ledger/set-aside.ts';
import { LOST, NOTE_TOLD, UNTOLD } from '../../../ledger/speech.ts';
import { runScript } from '../script.ts';
import type { Sql } from '../sql.ts';
import { tellOfBatches } from './batch-ends.ts';

/** The index was told of all this. Answers with when the batches that are searchable by it were accepted. */
export function clearOutbox(sql: Sql, { told, now }: { told: Told; now: number }): number[] {
  const params = { seqs: JSON.stringify(told.seqs) };
  const rows = [
    ...sql.all<{ id: string }>(SELECT_CONSOLIDATIONS, params),
    ...told.batches.flatMap((batch) => sql.all<{ id: string }>(NOTE_TOLD, { ...batch })),
  ];
  sql.run('DELETE FROM outbox WHERE seq IN (SELECT value FROM json_each(@seqs))', params);
  return finishProjected(sql, [...new Set(rows.map((row) => row.id))], now);
}

export const setLanesAside = (sql: Sql, { lanes }: { lanes: readonly SetAside[] }): void =>
  runScript(sql, setAside(lanes));

export const retellLane = (sql: Sql, { lane }: { lane: LaneId }): void => runScript(sql, retell(lane));

export const takeLanesUp = (sql: Sql, { lanes }: { lanes: readonly LaneId[] }): void => runScript(sql, takeUp(lanes));

/** Applied batches whose consolidation has nothing left to tell become what apply said. */
function finishProjected(sql: Sql, consolidationIds: readonly string[], now: number): number[] {
  const finished = consolidationIds.flatMap((id) => sql.all<Finished>(FINISH, { id, now }));
  tellOfBatches(sql, finished, now);
  return finished.map((row) => row.accepted_at);
}

/**
 * All memories again, a slice at a time so that no transaction is long. Entries get new numbers: one that was read
 * before may still be projected into the index that was lost, and cleared.
 */
export function refillOutbox(
  sql: Sql,
  { after, limit }: { after: string; limit: number },
): { last: string | null; filled: number } {
  const slice = sql.all<{ id: string }>('SELECT id FROM memories WHERE id > @after ORDER BY id LIMIT @limit', {
    after,
    limit,
  });
  if (slice.length === 0) return { last: null, filled: 0 };
  const ids = JSON.stringify(slice.map((row) => row.id));
  sql.run(FORGET_EXPLICIT, { ids });
  sql.run(REFILL, { ids });
  sql.run(REFILLED_TO);
  return { last: slice.at(-1)?.id ?? null, filled: slice.length };
}

/** The same of applied batches, with the messages of each. What is told to the lost index meanwhile is told once more. */
export function refillSpeech(sql: Sql, { after, limit }: { after: string; limit: number }): { last: string | null } {
  const slice = sql.all<{ id: string }>(SELECT_APPLIED, { after, limit });
  sql.run(FORGET_TOLD, { ids: JSON.stringify(slice.map(({ id }) => id)) });
  return { last: slice.at(-1)?.id ?? null };
}

const SELECT_APPLIED = `
  SELECT id FROM batches WHERE id > @after AND outcome IS NOT NULL ORDER BY id LIMIT @limit`;

const FORGET_TOLD = `
  UPDATE batches SET told_revision = ${LOST}, speech_revision = speech_revision + 1
  WHERE id IN (SELECT value FROM json_each(@ids))`;

const SELECT_CONSOLIDATIONS = `
  SELECT DISTINCT consolidation_id AS id FROM outbox
  WHERE seq IN (SELECT value FROM json_each(@seqs)) AND consolidation_id IS NOT NULL`;

interface Finished {
  readonly accepted_at: number;
  readonly id: string;
  readonly tenant: TenantId;
}

const FINISH = `
  UPDATE batches SET state = outcome, stage = 'done', searchable_at = @now
  WHERE consolidation_id = @id AND state = 'consolidating' AND outcome IS NOT NULL
    AND NOT EXISTS (SELECT 1 FROM outbox WHERE consolidation_id = @id)
    AND NOT EXISTS (SELECT 1 FROM batches b WHERE b.consolidation_id = @id AND b.outcome IS NOT NULL AND ${UNTOLD})
  RETURNING accepted_at, id, tenant`;

const FORGET_EXPLICIT = `
  DELETE FROM outbox WHERE consolidation_id IS NULL AND memory_id IN (SELECT value FROM json_each(@ids))`;

const REFILL = `
  INSERT INTO outbox (memory_id, tenant, lane)
  SELECT id, tenant, lane FROM memories WHERE id IN (SELECT value FROM json_each(@ids)) ORDER BY id`;

/** Until the entries up to this number are told, the index misses memories. */
const REFILLED_TO = `
  INSERT INTO meta (key, value) SELECT 'outbox_refilled_to', coalesce(max(seq), 0) FROM outbox WHERE true
  ON CONFLICT (key) DO UPDATE SET value = excluded.value`;
