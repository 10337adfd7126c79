import type { LaneId, Millis, Owner, TenantId } from '@slowwave/engine';
import type { LaneRow } from '../../../ledger/rows/lane.ts';
import { saveLane } from '../../../ledger/turn.ts';
import { runScript } from '../script.ts';
import type { Sql, Value } from '../sql.ts';

interface NewLane {
  readonly tenant: TenantId;
  readonly owner: Owner;
  readonly newId: LaneId;
  readonly now: Millis;
}

function loadLane(sql: Sql, id: LaneId): LaneRow | null {
  return sql.get<LaneRow>('SELECT * FROM lanes WHERE id = @id', { id });
}

function laneOfOwner(sql: Sql, tenant: TenantId, owner: Owner): LaneRow | null {
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

/**
 * Writes what an append changes. Its state is left alone where it stays as it was: the indexes that ask for it would be
 * written anew, though they stay as they were.
 */
export function saveLonger(sql: Sql, before: LaneRow, lane: LaneRow): void {
  if (lane.state === before.state && lane.generation === before.generation) sql.run(UPDATE_LONGER, longerColumns(lane));
  else runScript(sql, saveLane(lane));
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

const UPDATE_LONGER = `
  UPDATE lanes SET
    next_position = ?, next_seq = ?, pending = ?, pending_tokens = ?, pending_backfill = ?, oldest_at = ?,
    newest_at = ?, flush_through = ?, due_at = ?, updated_at = ?
  WHERE id = ?`;
