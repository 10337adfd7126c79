import type { DueMark, Lane, LaneId, Millis, Nudge, Owner, TenantId } from '@slowwave/engine';
import { clockParams, lanesAhead } from '../../../ledger/clock.ts';
import {
  type LaneRow,
  laneFrom,
  NUDGE_COLUMNS,
  type NudgeRow,
  nudgeFrom,
  selectLateTenants,
} from '../../../ledger/rows/lane.ts';
import type { Sql } from '../sql.ts';

export function getLane(sql: Sql, id: LaneId): Lane | null {
  const row = sql.get<LaneRow>('SELECT * FROM lanes WHERE id = @id', { id });
  return row === null ? null : laneFrom(row);
}

export function findLane(sql: Sql, tenant: TenantId, owner: Owner): Lane | null {
  const row = sql.get<LaneRow>(
    'SELECT * FROM lanes WHERE tenant = @tenant AND owner_kind = @kind AND owner_id = @ownerId',
    { tenant, kind: owner.kind, ownerId: owner.id },
  );
  return row === null ? null : laneFrom(row);
}

/** Longest due first. Consolidating lanes too: their worker may have died together with the queue. */
export function dueLanes(
  sql: Sql,
  { now, limit, after }: { now: number; limit: number; after: DueMark | null },
): readonly Nudge[] {
  const mark = { afterDue: after?.dueAt ?? 0, afterLane: after?.lane ?? '' };
  return sql.all<NudgeRow>(SELECT_DUE, { now, limit, ...mark }).map(nudgeFrom);
}

export function lateTenants(sql: Sql, how: { dueBefore: Millis; lanes: number }): readonly TenantId[] {
  return sql.all<{ tenant: TenantId }>(SELECT_LATE, how).map(({ tenant }) => tenant);
}

/** By lane id. */
export function lanesWithWork(sql: Sql, after: LaneId | null, limit: number): readonly Nudge[] {
  return sql.all<NudgeRow>(SELECT_WITH_WORK, { after: after ?? '', limit }).map(nudgeFrom);
}

/** Whether a lane took messages from a clock that was ahead. */
export const isAnyAhead = (sql: Sql, now: number): boolean => sql.get(SELECT_AHEAD, clockParams(now)) !== null;

const SELECT_AHEAD = `SELECT 1 FROM lanes WHERE ${lanesAhead('NOT paused')} LIMIT 1`;

const SELECT_DUE = `
  SELECT ${NUDGE_COLUMNS} FROM lanes
  WHERE state <> 'idle' AND NOT paused AND due_at <= @now AND (due_at, id) > (@afterDue, @afterLane)
  ORDER BY due_at, id LIMIT @limit`;

const SELECT_LATE = selectLateTenants({ unpaused: 'NOT paused', behind: 'nudged_backfill' });

const SELECT_WITH_WORK = `
  SELECT ${NUDGE_COLUMNS} FROM lanes
  WHERE state <> 'idle' AND NOT paused AND id > @after ORDER BY id LIMIT @limit`;
