import type { TenantId, Undoing, Undone } from '@slowwave/engine';
import { UNDONE_NOTE } from '@slowwave/engine/storing';
import { conflicts, writeChanges } from '../../../ledger/changes.ts';
import { retakeGraph } from '../../../ledger/graph/changes.ts';
import { undoColumns } from '../../../ledger/rows/undo.ts';
import { REVISE } from '../../../ledger/speech.ts';
import { forgetSummaries } from '../../../ledger/summaries.ts';
import { requireLane, standingLanes } from '../../../ledger/turn.ts';
import { undosOfLane } from '../read/undos.ts';
import { runScript } from '../script.ts';
import type { Sql } from '../sql.ts';

/** Takes back what an undo says: everything or nothing. */
export function writeUndo(sql: Sql, { tenant, undoing }: { tenant: TenantId; undoing: Undoing }): Undone {
  const { undo, changes, tombstones, undone, redone } = undoing;
  requireLane(undo, changes);
  const { lane, at: now } = undo;
  const last = sql.get<{ number: number | null }>(SELECT_LAST, { lane })?.number ?? 0;
  const changed = JSON.stringify(changes.map(({ memory }) => memory.id));
  const isOvertaken = sql.get(SELECT_STRAY, { undone: JSON.stringify(undone), changed }) !== null;
  const isStanding = runScript(sql, standingLanes([lane])).has(lane);
  if (!isStanding || undo.number !== last + 1 || isOvertaken) return { kind: 'conflict' };
  if (runScript(sql, conflicts(tenant, changes)).length > 0) return { kind: 'conflict' };
  sql.run(DELETE_TOMBSTONES, { lane, changed });
  runScript(sql, writeChanges({ changes, tombstones }, { tenant, consolidationId: null, now }));
  sql.run(UNDO_CONSOLIDATIONS, { ids: JSON.stringify(undone) });
  sql.run(UNDO_BATCHES, { ids: JSON.stringify(undone), now });
  sql.run(UNDO_REVIEWS, { ids: JSON.stringify(undone), note: UNDONE_NOTE, now });
  sql.run(REDO_CONSOLIDATIONS, { ids: JSON.stringify(redone) });
  sql.run(REDO_BATCHES, { ids: JSON.stringify(redone), now });
  sql.run(REDO_REVIEWS, { ids: JSON.stringify(redone), note: UNDONE_NOTE });
  runScript(sql, forgetSummaries(lane));
  sql.run(INSERT_UNDO, undoColumns(undo, tenant));
  runScript(sql, retakeGraph(tenant, undoing, undosOfLane(sql, lane)));
  return { kind: 'written' };
}

const SELECT_LAST = 'SELECT max(number) AS number FROM undos WHERE lane = @lane';

/** An undone consolidation has changed more than what is undone. */
const SELECT_STRAY = `
  SELECT 1 FROM events
  WHERE consolidation_id IN (SELECT value FROM json_each(@undone))
    AND memory_id NOT IN (SELECT value FROM json_each(@changed)) LIMIT 1`;

const DELETE_TOMBSTONES = `
  DELETE FROM tombstones WHERE lane = @lane AND memory_id IN (SELECT value FROM json_each(@changed))`;

const UNDO_CONSOLIDATIONS = `
  UPDATE consolidations SET state = 'undone' WHERE id IN (SELECT value FROM json_each(@ids))`;

const UNDO_BATCHES = `
  UPDATE batches SET state = 'undone', stage = 'done', ${REVISE}
  WHERE consolidation_id IN (SELECT value FROM json_each(@ids)) AND outcome IS NOT NULL`;

const UNDO_REVIEWS = `
  UPDATE reviews SET state = 'stale', note = @note, settled_at = @now
  WHERE consolidation_id IN (SELECT value FROM json_each(@ids)) AND state = 'pending'`;

const REDO_CONSOLIDATIONS = `
  UPDATE consolidations SET state = 'applied' WHERE id IN (SELECT value FROM json_each(@ids))`;

const REDO_BATCHES = `
  UPDATE batches SET state = outcome, searchable_at = coalesce(searchable_at, @now), ${REVISE}
  WHERE consolidation_id IN (SELECT value FROM json_each(@ids)) AND state = 'undone'`;

const REDO_REVIEWS = `
  UPDATE reviews SET state = 'pending', note = NULL, settled_at = NULL
  WHERE consolidation_id IN (SELECT value FROM json_each(@ids)) AND state = 'stale' AND note = @note`;

const INSERT_UNDO = `
  INSERT INTO undos (id, tenant, lane, number, kind, leads_to, consolidations, undos, memories, at)
  VALUES (@id, @tenant, @lane, @number, @kind, @leads_to, @consolidations, @undos, @memories, @at)`;
