import type { LaneId, MemoryChange, Turn } from '@slowwave/engine';
import { type LaneRow, recount, type Waiting } from './lane-life.ts';
import { all, first, type Held, type Script, update } from './script.ts';

/**
 * A lane, locked until the end of the transaction: by whoever changes it, its batches or its memories. Of several lanes
 * in the order of their ids, so that nobody waits in a circle. Rows may refer to the lane meanwhile.
 */
export const lockLane = (id: LaneId): Script<LaneRow | null> =>
  first<LaneRow>('SELECT * FROM lanes WHERE id = @id FOR NO KEY UPDATE', { id });

/** Lanes, locked in the order of their ids. */
export const lockLanes = (ids: Iterable<LaneId>): Script<readonly LaneRow[]> =>
  all<LaneRow>('SELECT * FROM lanes WHERE id IN :ids ORDER BY id FOR NO KEY UPDATE', { ids: [...new Set(ids)] });

/** Which of these lanes are there, and not cut off. */
export function* standingLanes(ids: readonly LaneId[]): Script<ReadonlySet<LaneId>> {
  const rows = yield* all<{ id: LaneId }>('SELECT id FROM lanes WHERE id IN :ids AND erasure IS NULL', {
    ids: [...new Set(ids)],
  });
  return new Set(rows.map(({ id }) => id));
}

/** Writes everything that changes in a lane's life. */
export const saveLane = (lane: LaneRow): Script<number> => saveLanes([lane]);

export const saveLanes = (lanes: readonly LaneRow[]): Script<number> => update('lanes', lanes.map(changing));

/** One by one: in a ledger of the next release a lane may have columns that this one knows nothing of. */
const changing = (lane: LaneRow) => ({
  id: lane.id,
  state: lane.state,
  generation: lane.generation,
  epoch: lane.epoch,
  consolidation_id: lane.consolidation_id,
  due_at: lane.due_at,
  next_position: lane.next_position,
  next_seq: lane.next_seq,
  pending: lane.pending,
  pending_tokens: lane.pending_tokens,
  pending_exchanges: lane.pending_exchanges,
  pending_backfill: lane.pending_backfill,
  nudged_backfill: lane.nudged_backfill,
  oldest_at: lane.oldest_at,
  newest_at: lane.newest_at,
  pace_ms: lane.pace_ms,
  flush_through: lane.flush_through,
  window_limit: lane.window_limit,
  attempts: lane.attempts,
  updated_at: lane.updated_at,
});

/** The lane with its counters as its batches say now; those up to a position are about to be pinned. */
export function* recounted(lane: LaneRow, after = 0): Script<LaneRow> {
  const waiting = yield* first<Waiting>(COUNT_WAITING, { number: lane.number, after });
  if (waiting === null) throw new Error('a count always has one row');
  return recount(lane, waiting);
}

const COUNT_WAITING = `
  SELECT count(*) AS pending, coalesce(sum(tokens), 0)::bigint AS pending_tokens, coalesce(sum(exchanges), 0)::bigint AS pending_exchanges,
    min(accepted_at) AS oldest_at,
    max(accepted_at) AS newest_at, min(position) AS first_position,
    count(*) FILTER (WHERE backfill) AS pending_backfill
  FROM batches WHERE lane = @number AND state = 'pending' AND position > @after`;

/** The turn's lane, locked; null when a later claim has taken it. */
export function* laneOfTurn(turn: Turn): Script<LaneRow | null> {
  const lane = yield* lockLane(turn.lane);
  const holds =
    lane !== null &&
    lane.tenant === turn.tenant &&
    lane.epoch === turn.epoch &&
    lane.consolidation_id === turn.consolidationId;
  return holds ? lane : null;
}

/** The turn's lane for `ifHeld`: found by the turn that has it, and locked. */
export const laneHeldBy = ({ tenant, lane, epoch, consolidationId }: Turn): Held => ({
  text: SELECT_HELD,
  given: { tenant, lane, epoch, consolidationId },
});

const AT_CONSOLIDATION = 'l.id = @lane AND l.tenant = @tenant AND l.consolidation_id = @consolidationId';

/** Of lanes `l`: the turn has it. */
export const HELD = `${AT_CONSOLIDATION} AND l.epoch = @epoch`;

const SELECT_HELD = `SELECT 1 AS held FROM lanes l WHERE ${HELD} FOR NO KEY UPDATE`;

/** The same by any turn of the consolidation, one that was fenced too. */
export const laneAt = ({ tenant, lane, consolidationId }: Turn): Held => ({
  text: SELECT_AT,
  given: { tenant, lane, consolidationId },
});

const SELECT_AT = `SELECT 1 AS held FROM lanes l WHERE ${AT_CONSOLIDATION} FOR NO KEY UPDATE`;

/** A turn writes inside its own lane only: what another lane knows is another owner's. */
export const requireOneLane = ({ lane, consolidationId: id }: Turn, changes: readonly MemoryChange[]): void =>
  requireLane({ lane, id }, changes);

/** The same of whatever changes the memories of one lane. */
export function requireLane(
  by: { readonly lane: LaneId; readonly id: string },
  changes: readonly MemoryChange[],
): void {
  const stray = changes.find(({ memory }) => memory.lane !== by.lane);
  if (stray === undefined) return;
  throw new Error(`${by.id} of ${by.lane} would change ${stray.memory.id} of another lane`);
}
