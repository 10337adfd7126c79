import type { LaneId, Nudge, Owner, TenantId } from '@slowwave/engine';
import { replayPriority } from '@slowwave/engine/storing';
import { flush as makeDue } from '../../../ledger/lane-life.ts';
import type { Sql } from '../sql.ts';
import { laneOfOwner, loadLane, recounted, saveLane } from './lanes.ts';

/** Everything an owner has waiting is due now, or right after the consolidation that runs. */
export function flush(
  sql: Sql,
  { tenant, owner, now }: { tenant: TenantId; owner: Owner; now: number },
): { pending: number; nudge: Nudge | null } {
  const lane = laneOfOwner(sql, tenant, owner);
  if (lane === null || lane.pending === 0) return { pending: 0, nudge: null };
  const step = makeDue(lane, lane.next_position - 1, now);
  saveLane(sql, step.lane);
  return { pending: lane.pending, nudge: step.nudge };
}

/** Parked batches wait again at their old positions, due now. Others are left alone. */
export function replay(
  sql: Sql,
  { tenant, ids, now }: { tenant: TenantId; ids: readonly string[]; now: number },
): { replayed: readonly string[]; nudges: readonly Nudge[] } {
  const params = { tenant, ids: JSON.stringify(ids) };
  const lanes = sql.all<ParkedLane>(SELECT_PARKED_LANES, params);
  const replayed = sql.all<{ id: string }>(SELECT_PARKED, params).map((row) => row.id);
  sql.run(REPLAY, { ...params, backfill: replayPriority(replayed.length) === 'backfill' ? 1 : 0 });
  const nudges = lanes.map(({ lane, last }) => wake(sql, { lane, last, now })).filter((nudge) => nudge !== null);
  return { replayed, nudges };
}

function wake(sql: Sql, { lane: id, last, now }: ParkedLane & { now: number }): Nudge | null {
  const lane = loadLane(sql, id);
  if (lane === null) throw new Error(`batches of the missing lane ${id}`);
  const step = makeDue(recounted(sql, lane), last, now);
  saveLane(sql, step.lane);
  return step.nudge;
}

interface ParkedLane {
  readonly lane: LaneId;
  /** The highest position among the batches to be replayed. */
  readonly last: number;
}

/** The + keeps SQLite from looking through all that is parked. */
const PARKED = `+tenant = @tenant AND +state = 'parked' AND id IN (SELECT value FROM json_each(@ids))`;

const SELECT_PARKED_LANES = `SELECT lane, max(position) AS last FROM batches WHERE ${PARKED} GROUP BY lane`;

const SELECT_PARKED = `SELECT id FROM batches WHERE ${PARKED} ORDER BY lane, position`;

const REPLAY = `
  UPDATE batches SET state = 'pending', stage = 'waiting', attempts = 0, failure = NULL, claimed_at = NULL,
    consolidation_id = NULL, backfill = max(backfill, @backfill)
  WHERE ${PARKED}`;
