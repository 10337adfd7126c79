import type { LaneId, Millis, Nudge, Owner, TenantId, Turn } from '@slowwave/engine';
import { clockParams, HASTEN_OTHERS, hastenLanes, NOTE_CLOCK } from '../../../ledger/clock.ts';
import { raise, recount, type Waiting } from '../../../ledger/lane-life.ts';
import type { LaneRow } from '../../../ledger/rows/lane.ts';
import { heldBy } from '../../../ledger/turn.ts';
import type { Sql, Value } from '../sql.ts';

interface NewLane {
  readonly tenant: TenantId;
  readonly owner: Owner;
  readonly newId: LaneId;
  readonly now: Millis;
}

export function loadLane(sql: Sql, id: LaneId): LaneRow | null {
  return sql.get<LaneRow>('SELECT * FROM lanes WHERE id = @id', { id });
}

export function laneOfOwner(sql: Sql, tenant: TenantId, owner: Owner): LaneRow | null {
  return sql.get<LaneRow>('SELECT * FROM lanes WHERE tenant = @tenant AND owner_kind = @kind AND owner_id = @ownerId', {
    tenant,
    kind: owner.kind,
    ownerId: owner.id,
  });
}

/** The id of an owner's lane, made if missing. */
export function openLaneId(sql: Sql, owned: NewLane): LaneId {
  return openLane(sql, owned).id;
}

/** The lane of an owner, made under the id `newId` if missing. */
export function openLane(sql: Sql, { tenant, owner, newId, now }: NewLane): LaneRow {
  const known = laneOfOwner(sql, tenant, owner);
  if (known !== null) return known;
  sql.run(INSERT_LANE, { id: newId, tenant, kind: owner.kind, ownerId: owner.id, now });
  const made = loadLane(sql, newId);
  if (made === null) throw new Error(`lane ${newId} is missing right after it was made`);
  return made;
}

/** Writes everything that changes in a lane's life. */
export function saveLane(sql: Sql, lane: LaneRow): void {
  sql.run(UPDATE_LANE, { ...lane });
}

/**
 * Writes what an append changes. Its state is left alone where it stays as it was: the indexes that ask for it would be
 * written anew, though they stay as they were.
 */
export function saveLonger(sql: Sql, before: LaneRow, lane: LaneRow): void {
  if (lane.state === before.state && lane.generation === before.generation) sql.run(UPDATE_LONGER, longerColumns(lane));
  else saveLane(sql, lane);
}

const longerColumns = (lane: LaneRow): readonly Value[] => [
  lane.next_position,
  lane.next_seq,
  lane.pending,
  lane.pending_tokens,
  lane.pending_backfill,
  lane.oldest_at,
  lane.newest_at,
  lane.flush_through,
  lane.due_at,
  lane.updated_at,
  lane.id,
];

/** The turn's lane, or null when a later claim has taken it. */
export const laneOfTurn = (sql: Sql, turn: Turn): LaneRow | null => heldBy(turn, loadLane(sql, turn.lane));

/** The lane with its counters as its batches say now. */
export function recounted(sql: Sql, lane: LaneRow): LaneRow {
  const waiting = sql.get<Waiting>(COUNT_WAITING, { lane: lane.id });
  if (waiting === null) throw new Error('a count always has one row');
  return recount(lane, waiting);
}

/** How many lanes are due now that waited for a time that a clock named while it was ahead. */
export function clockSetBack(sql: Sql, { now, all }: { now: number; all: boolean }): number {
  if (all) for (const statement of HASTEN_OTHERS) sql.run(statement, { now, shown: String(now) });
  return sql.run(hastenLanes('NOT paused', { all }), all ? { now } : clockParams(now));
}

/** Notes what a worker's clock shows. */
export function noteClock(sql: Sql, { now }: { now: Millis }): void {
  sql.run(NOTE_CLOCK, { shown: String(now) });
}

/** Raises the generation, if the lane still stands at this one and has work. */
export function raiseLane(sql: Sql, { lane: id, generation }: { lane: LaneId; generation: number }): Nudge | null {
  const lane = loadLane(sql, id);
  if (lane === null || lane.state === 'idle' || lane.generation !== generation) return null;
  const { lane: raised, nudge } = raise(lane);
  saveLane(sql, raised);
  return nudge;
}

/** Writes one row, which only a healthy ledger can. */
export function proveWritable(sql: Sql, { now }: { now: Millis }): void {
  sql.run(
    "INSERT INTO meta (key, value) VALUES ('checked_at', @at) ON CONFLICT (key) DO UPDATE SET value = excluded.value",
    { at: String(now) },
  );
}

const INSERT_LANE = `
  INSERT INTO lanes (
    id, tenant, owner_kind, owner_id, state, generation, epoch, paused, next_position, next_seq,
    pending, pending_tokens, pending_backfill, nudged_backfill, flush_through, attempts, created_at, updated_at
  ) VALUES (@id, @tenant, @kind, @ownerId, 'idle', 0, 0, 0, 1, 1, 0, 0, 0, 0, 0, 0, @now, @now)`;

const UPDATE_LANE = `
  UPDATE lanes SET
    state = @state, generation = @generation, epoch = @epoch, consolidation_id = @consolidation_id, due_at = @due_at,
    next_position = @next_position, next_seq = @next_seq, pending = @pending, pending_tokens = @pending_tokens,
    pending_backfill = @pending_backfill, nudged_backfill = @nudged_backfill,
    oldest_at = @oldest_at, newest_at = @newest_at, flush_through = @flush_through, window_limit = @window_limit,
    attempts = @attempts, updated_at = @updated_at
  WHERE id = @id`;

const UPDATE_LONGER = `
  UPDATE lanes SET
    next_position = ?, next_seq = ?, pending = ?, pending_tokens = ?, pending_backfill = ?, oldest_at = ?,
    newest_at = ?, flush_through = ?, due_at = ?, updated_at = ?
  WHERE id = ?`;

const COUNT_WAITING = `
  SELECT count(*) AS pending, coalesce(sum(tokens), 0) AS pending_tokens, min(accepted_at) AS oldest_at,
    max(accepted_at) AS newest_at, min(position) AS first_position, coalesce(sum(backfill), 0) AS pending_backfill
  FROM batches WHERE lane = @lane AND state = 'pending'`;
