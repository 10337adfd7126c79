import { type TenantId, UNDONE_NOTE, type Undoing, type Undone } from '@slowwave/engine';
import { conflicts, writeChanges } from '../../../ledger/changes.ts';
import { retakeGraph } from '../../../ledger/graph/changes.ts';
import { undoColumns } from '../../../ledger/rows/undo.ts';
import { REVISE } from '../../../ledger/speech.ts';
import { forgetSummaries } from '../../../ledger/summaries.ts';
import { requireLane, standingLanes } from '../../../ledger/turn.ts';
import { undosOfLane } from '../read/undos.ts';
import { runScript } from '../script.ts';
import type { Sql } from '../sql.ts';
import { lockLane } from './lanes.ts';

/** Takes back what an undo says: everything or nothing. */
export async function writeUndo(
  sql: Sql,
  { tenant, undoing }: { tenant: TenantId; undoing: Undoing },
): Promise<Undone> {
  const { undo, changes, tombstones, undone, redone } = undoing;
  requireLane(undo, changes);
  const { lane, at: now } = undo;
  await lockLane(sql, lane);
  const last = (await sql.get<{ number: number | null }>(SELECT_LAST, { lane }))?.number ?? 0;
  const changed = changes.map(({ memory }) => memory.id);
  const isOvertaken = (await sql.get(SELECT_STRAY, { undone, changed })) !== null;
  const isStanding = (await runScript(sql, standingLanes([lane]))).has(lane);
  if (!isStanding || undo.number !== last + 1 || isOvertaken) return { kind: 'conflict' };
  if ((await runScript(sql, conflicts(tenant, changes))).length > 0) return { kind: 'conflict' };
  await sql.run(DELETE_TOMBSTONES, { lane, changed });
  await runScript(sql, writeChanges({ changes, tombstones }, { tenant, consolidationId: null, now }));
  await sql.run(UNDO_CONSOLIDATIONS, { ids: undone });
  await sql.run(UNDO_BATCHES, { ids: undone, now });
  await sql.run(UNDO_REVIEWS, { ids: undone, note: UNDONE_NOTE, now });
  await sql.run(REDO_CONSOLIDATIONS, { ids: redone });
  await sql.run(REDO_BATCHES, { ids: redone, now });
  await sql.run(REDO_REVIEWS, { ids: redone, note: UNDONE_NOTE });
  await runScript(sql, forgetSummaries(lane));
  await sql.run(INSERT_UNDO, undoColumns(undo, tenant));
  await runScript(sql, retakeGraph(tenant, undoing, await undosOfLane(sql, lane)));
  return { kind: 'written' };
}

const SELECT_LAST = 'SELECT max(number) AS number FROM undos WHERE lane = @lane';

/** An undone consolidation has changed more than what is undone. */
const SELECT_STRAY = `
  SELECT 1 FROM events
  WHERE consolidation_id = ANY(@undone::text[])
    AND memory_id <> ALL(@changed::text[]) LIMIT 1`;

const DELETE_TOMBSTONES = `
  DELETE FROM tombstones WHERE lane = @lane AND memory_id = ANY(@changed::text[])`;

const UNDO_CONSOLIDATIONS = `
  UPDATE consolidations SET state = 'undone' WHERE id = ANY(@ids::text[])`;

const UNDO_BATCHES = `
  UPDATE batches SET state = 'undone', stage = 'done', ${REVISE}
  WHERE consolidation_id = ANY(@ids::text[]) AND outcome IS NOT NULL`;

const UNDO_REVIEWS = `
  UPDATE reviews SET state = 'stale', note = @note, settled_at = @now
  WHERE consolidation_id = ANY(@ids::text[]) AND state = 'pending'`;

const REDO_CONSOLIDATIONS = `
  UPDATE consolidations SET state = 'applied' WHERE id = ANY(@ids::text[])`;

const REDO_BATCHES = `
  UPDATE batches SET state = outcome, searchable_at = coalesce(searchable_at, @now), ${REVISE}
  WHERE consolidation_id = ANY(@ids::text[]) AND state = 'undone'`;

const REDO_REVIEWS = `
  UPDATE reviews SET state = 'pending', note = NULL, settled_at = NULL
  WHERE consolidation_id = ANY(@ids::text[]) AND state = 'stale' AND note = @note`;

const INSERT_UNDO = `
  INSERT INTO undos (id, tenant, lane, number, kind, leads_to, consolidations, undos, memories, at)
  VALUES (@id, @tenant, @lane, @number, @kind, @leads_to, @consolidations::jsonb, @undos::jsonb, @memories, @at)`;
