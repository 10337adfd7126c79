import type { LaneId, ReplayedBatch, TenantId, Touched, Undo, Undoing, Undone, UndoStore } from '@slowwave/engine';
import { UNDONE_NOTE } from '@slowwave/engine/storing';
import { conflicts, writeChanges } from './changes.ts';
import { showRetaken } from './forgetting.ts';
import { retakeGraph } from './graph/studies.ts';
import { inConsolidations, isStanding, LANE_NUMBER, type Listing, laneOfUser, newestFirst } from './page.ts';
import { type ColumnsOf, type OwnerColumns, ownerFrom } from './rows/columns.ts';
import { eventFrom, SELECT_EVENTS } from './rows/memory.ts';
import { all, allAs, first, firstAs, idsOf, read, run, type Script, storeOf, together, write } from './script.ts';
import { projectSpeechAgain } from './speech.ts';
import { forgetBegunSummaries, forgetSummaries } from './summaries.ts';
import { lockLane, requireLane } from './turn.ts';

export const undoStore = storeOf<UndoStore>('undos', {
  get: read((tenant, id) => {
    const text = `${SELECT_UNDOS} WHERE u.tenant = @tenant AND u.id = @id AND ${isStanding('u.lane')}`;
    return firstAs(undoFrom, text, { tenant, id });
  }),
  list: read((tenant, { userId }, page) => newestFirst(UNDOS, page, { tenant, userId })),
  ofLane: read(undosOfLane),
  touched: read(function* (tenant, by) {
    return (yield* touching(tenant, by)).map((row) => row.memory_id);
  }),
  events: read((tenant, memoryIds) => {
    const text = `${SELECT_EVENTS} WHERE +m.tenant = @tenant AND m.id IN :memoryIds ORDER BY m.id, e.revision`;
    return allAs(eventFrom, text, { tenant, memoryIds });
  }),
  appliedAfter: read((lane, after) =>
    idsOf(`SELECT id FROM consolidations WHERE lane = ${LANE_NUMBER} AND applied_at > @after ORDER BY applied_at, id`, {
      lane,
      after,
    }),
  ),
  replayed: read((tenant, ids) =>
    all<ReplayedBatch>(`${SELECT_REPLAYED} AND +c.tenant = @tenant ORDER BY b.id`, { tenant, ids }),
  ),
  write: write(writeUndo),
});

/** Takes back what an undo says: everything or nothing. */
export function* writeUndo(tenant: TenantId, undoing: Undoing): Script<Undone> {
  const { undo, changes, tombstones, undone, redone } = undoing;
  requireLane(undo, changes);
  const { lane, at: now } = undo;
  const row = yield* lockLane(lane);
  if (row === null || row.erasure !== null || !(yield* follows(undoing))) return { kind: 'conflict' };
  if ((yield* conflicts(tenant, changes, [row])).length > 0) return { kind: 'conflict' };
  yield* run(DELETE_TOMBSTONES, { lane, changed: changedIn(undoing) });
  yield* writeChanges({ changes, tombstones }, { tenant, consolidationId: null, now });
  const batchIds = yield* idsOf(SELECT_TURNED, { undone, redone });
  yield* together(
    run(UNDO_CONSOLIDATIONS, { ids: undone }),
    run(UNDO_BATCHES, { ids: undone }),
    run(UNDO_REVIEWS, { ids: undone, note: UNDONE_NOTE, now }),
    run(REDO_CONSOLIDATIONS, { ids: redone }),
    run(REDO_BATCHES, { ids: redone, now }),
    run(REDO_REVIEWS, { ids: redone, note: UNDONE_NOTE }),
  );
  yield* projectSpeechAgain(batchIds, now);
  yield* forgetSummaries(lane);
  yield* forgetBegunSummaries(lane);
  yield* run(INSERT_UNDO, undoColumns(undo, tenant));
  yield* retakeGraph(tenant, undoing, yield* undosOfLane(lane));
  const retaken = { consolidationIds: [...undone, ...redone], memoryIds: changedIn(undoing) };
  yield* showRetaken({ tenant, lane, now }, retaken);
  return { kind: 'written' };
}

/** Oldest first. */
function undosOfLane(lane: LaneId): Script<readonly Undo[]> {
  return allAs(undoFrom, `${SELECT_UNDOS} WHERE u.lane = @lane ORDER BY u.number`, { lane });
}

const SELECT_UNDOS = `
  SELECT u.*, l.owner_kind, l.owner_id FROM undos u JOIN lanes l ON l.id = u.lane`;

interface UndoRow extends ColumnsOf<Omit<Undo, 'owner' | 'to'>, 'consolidations' | 'undos'>, OwnerColumns {
  readonly leads_to: number | null;
}

const undoFrom = (row: UndoRow): Undo => ({
  id: row.id,
  tenant: row.tenant,
  lane: row.lane,
  owner: ownerFrom(row),
  number: row.number,
  kind: row.kind,
  to: row.leads_to,
  consolidations: JSON.parse(row.consolidations),
  undos: JSON.parse(row.undos),
  memories: row.memories,
  at: row.at,
});

const UNDOS: Listing<UndoRow, Undo> = {
  select: SELECT_UNDOS,
  by: ['u.at', 'u.id'],
  always: [isStanding('u.lane')],
  asked: { tenant: 'u.tenant = @tenant', userId: laneOfUser('u.lane') },
  make: undoFrom,
};

function touching(tenant: TenantId, by: Touched): Script<readonly { memory_id: string }[]> {
  if ('consolidations' in by) return all(BY_CONSOLIDATIONS, { tenant, ids: by.consolidations });
  if ('undo' in by) return all(BY_UNDO, { tenant, undo: by.undo });
  return all(BY_TIME, { tenant, lane: by.lane, after: by.after });
}

const TOUCHED = 'SELECT DISTINCT m.id AS memory_id FROM events e JOIN memories m ON m.number = e.memory';

const BY_CONSOLIDATIONS = `${TOUCHED} WHERE ${inConsolidations('e.consolidation', 'ids')} AND +m.tenant = @tenant`;

const BY_UNDO = `${TOUCHED} WHERE e.undo_id = @undo AND +m.tenant = @tenant`;

const BY_TIME = `
  SELECT DISTINCT m.id AS memory_id FROM memories m JOIN events e ON e.memory = m.number
  WHERE m.lane = ${LANE_NUMBER} AND +m.tenant = @tenant AND e.recorded_at > @after`;

/**
 * Whether it is the next undo of its lane, what it undoes has changed nothing else since it was worked out, and no batch of
 * what counts again was replayed.
 */
function* follows({ undo: { lane, number }, undone, redone, ...undoing }: Undoing): Script<boolean> {
  const [last, stray, replayed] = yield* together(
    first<{ number: number | null }>('SELECT max(number) AS number FROM undos WHERE lane = @lane', { lane }),
    first(SELECT_STRAY, { undone, changed: changedIn(undoing), keepsReviews: undoing.keepsReviews === true ? 1 : 0 }),
    first(`${SELECT_REPLAYED} LIMIT 1`, { ids: redone }),
  );
  return number === (last?.number ?? 0) + 1 && stray === null && replayed === null;
}

const changedIn = ({ changes }: Pick<Undoing, 'changes'>): readonly string[] => changes.map(({ memory }) => memory.id);

/** An undone consolidation has changed more than what is undone. */
const SELECT_STRAY = `
  SELECT 1 AS stray FROM events e JOIN memories m ON m.number = e.memory
  WHERE ${inConsolidations('e.consolidation', 'undone')} AND NOT (m.id IN :changed) AND (@keepsReviews = 0 OR e.actor IS DISTINCT FROM 'review') LIMIT 1`;

/** Batches of consolidations that belong to them no more. */
const SELECT_REPLAYED = `
  SELECT b.id AS "batchId", c.id AS "consolidationId"
  FROM consolidations c, jsonb_array_elements_text(c.batch_ids) AS a, batches b
  WHERE c.id IN :ids AND b.id = a.value AND b.consolidation IS DISTINCT FROM c.number`;

const DELETE_TOMBSTONES = 'DELETE FROM tombstones WHERE lane = @lane AND memory_id IN :changed';

const UNDO_CONSOLIDATIONS = "UPDATE consolidations SET state = 'undone' WHERE id IN :ids";

/** What their batches say counts no more, or again: nothing beside is found by it, or is. */
const SELECT_TURNED = `
  SELECT id FROM batches
  WHERE (${inConsolidations('consolidation', 'undone')} AND outcome IS NOT NULL)
    OR (${inConsolidations('consolidation', 'redone')} AND state = 'undone')`;

const UNDO_BATCHES = `
  UPDATE batches SET state = 'undone', stage = 'done'
  WHERE ${inConsolidations('consolidation', 'ids')} AND outcome IS NOT NULL`;

const UNDO_REVIEWS = `
  UPDATE reviews SET state = 'stale', note = @note, settled_at = @now
  WHERE consolidation_id IN :ids AND state = 'pending'`;

const REDO_CONSOLIDATIONS = "UPDATE consolidations SET state = 'applied' WHERE id IN :ids";

const REDO_BATCHES = `
  UPDATE batches SET state = outcome, searchable_at = coalesce(searchable_at, @now)
  WHERE ${inConsolidations('consolidation', 'ids')} AND state = 'undone'`;

const REDO_REVIEWS = `
  UPDATE reviews SET state = 'pending', note = NULL, settled_at = NULL
  WHERE consolidation_id IN :ids AND state = 'stale' AND note = @note`;

const undoColumns = ({ owner: _, to, consolidations, undos, ...undo }: Undo, tenant: TenantId) => ({
  ...undo,
  tenant,
  leads_to: to,
  consolidations: JSON.stringify(consolidations),
  undos: JSON.stringify(undos),
});

const INSERT_UNDO = `
  INSERT INTO undos (id, tenant, lane, number, kind, leads_to, consolidations, undos, memories, at)
  VALUES (@id, @tenant, @lane, @number, @kind, @leads_to, @consolidations::jsonb, @undos::jsonb, @memories, @at)`;
