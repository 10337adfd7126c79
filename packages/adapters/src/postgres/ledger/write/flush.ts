import { type LaneId, type Nudge, type Owner, replayPriority, type TenantId } from '@slowwave/engine';
import { flush as makeDue } from '../../../ledger/lane-life.ts';
import type { LaneRow } from '../../../ledger/rows/lane.ts';
import type { Sql } from '../sql.ts';
import { lockLanes, lockOwners, recounted, saveLanes } from './lanes.ts';

/** Everything an owner has waiting is due now, or right after the consolidation that runs. */
export async function flush(
  sql: Sql,
  { tenant, owner, now }: { tenant: TenantId; owner: Owner; now: number },
): Promise<{ pending: number; nudge: Nudge | null }> {
  const [lane] = await lockOwners(sql, [{ tenant, owner }]);
  if (lane === undefined || lane.pending === 0) return { pending: 0, nudge: null };
  const step = makeDue(lane, lane.next_position - 1, now);
  await saveLanes(sql, [step.lane]);
  return { pending: lane.pending, nudge: step.nudge };
}

/** Parked batches wait again at their old positions, due now. Others are left alone. */
export async function replay(
  sql: Sql,
  { tenant, ids, now }: { tenant: TenantId; ids: readonly string[]; now: number },
): Promise<{ replayed: readonly string[]; nudges: readonly Nudge[] }> {
  const lanes = await sql.all<{ lane: LaneId }>(SELECT_PARKED_LANES, { tenant, ids });
  const locked = await lockLanes(
    sql,
    lanes.map(({ lane }) => lane),
  );
  const replayed = await sql.all<Replayed>(REPLAY, {
    tenant,
    ids,
    backfill: replayPriority(ids.length) === 'backfill' ? 1 : 0,
  });
  replayed.sort((a, b) => (a.lane === b.lane ? a.position - b.position : a.lane < b.lane ? -1 : 1));
  const nudges: Nudge[] = [];
  for (const lane of locked) {
    const last = replayed.findLast((batch) => batch.lane === lane.id);
    const nudge = last === undefined ? null : await wake(sql, lane, { last: last.position, now });
    if (nudge !== null) nudges.push(nudge);
  }
  return { replayed: replayed.map(({ id }) => id), nudges };
}

async function wake(sql: Sql, lane: LaneRow, { last, now }: { last: number; now: number }): Promise<Nudge | null> {
  const step = makeDue(await recounted(sql, lane), last, now);
  await saveLanes(sql, [step.lane]);
  return step.nudge;
}

interface Replayed {
  readonly id: string;
  readonly lane: LaneId;
  readonly position: number;
}

const PARKED = `tenant = @tenant AND state = 'parked' AND id = ANY(@ids::text[])`;

const SELECT_PARKED_LANES = `SELECT DISTINCT lane FROM batches WHERE ${PARKED}`;

const REPLAY = `
  UPDATE batches SET state = 'pending', stage = 'waiting', attempts = 0, failure = NULL, claimed_at = NULL,
    consolidation_id = NULL, backfill = backfill OR @backfill::boolean
  WHERE ${PARKED} RETURNING id, lane, position`;
