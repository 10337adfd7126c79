import type { LaneId, Millis, Owner, TenantId } from '@slowwave/engine';
import type { LaneRow } from '../../../ledger/rows/lane.ts';
import { update } from '../../../ledger/script.ts';
import { LANES } from '../../../ledger/turn.ts';
import { LostRowError } from '../errors.ts';
import { runScript } from '../script.ts';
import type { Sql } from '../sql.ts';

/**
 * Who changes a lane, its batches or its memories holds the lock of the lane's row until the end of its transaction;
 * of several lanes in the order of their ids, so that nobody waits in a circle. The lock lets rows refer to the lane
 * meanwhile (FOR NO KEY UPDATE).
 */
export async function lockLane(sql: Sql, id: LaneId): Promise<LaneRow | null> {
  return sql.get<LaneRow>('SELECT * FROM lanes WHERE id = @id FOR NO KEY UPDATE', { id });
}

export async function lockLanes(sql: Sql, ids: Iterable<LaneId>): Promise<readonly LaneRow[]> {
  const text = 'SELECT * FROM lanes WHERE id = ANY(@ids::text[]) ORDER BY id FOR NO KEY UPDATE';
  return sql.all<LaneRow>(text, { ids: [...new Set(ids)] });
}

export interface NewLane {
  readonly tenant: TenantId;
  readonly owner: Owner;
  /** Its id, if the owner has no lane yet. */
  readonly newId: LaneId;
  readonly now: Millis;
}

/** Makes the lanes that are missing. Before any lock is taken: two writers make new lanes in the same order. */
export async function openLanes(sql: Sql, lanes: readonly NewLane[]): Promise<void> {
  await sql.run(INSERT_LANES, {
    ids: lanes.map((lane) => lane.newId),
    ...ownersOf(lanes),
    nows: lanes.map((lane) => lane.now),
  });
}

/** The lanes of these owners, locked. */
export async function lockOwners(
  sql: Sql,
  owned: readonly Omit<NewLane, 'newId' | 'now'>[],
): Promise<readonly LaneRow[]> {
  return sql.all<LaneRow>(LOCK_OWNERS, ownersOf(owned));
}

/** The id of an owner's lane, made if missing. */
export async function openLaneId(sql: Sql, lane: NewLane): Promise<LaneId> {
  await openLanes(sql, [lane]);
  const { tenant, owner } = lane;
  const row = await sql.get<{ id: LaneId }>(SELECT_ID, { tenant, kind: owner.kind, ownerId: owner.id });
  if (row === null) throw new LostRowError(`lane ${lane.newId} is missing right after it was made`);
  return row.id;
}

/** Writes everything that changes in a lane's life. */
export async function saveLanes(sql: Sql, lanes: readonly LaneRow[]): Promise<void> {
  await runScript(sql, update(LANES, lanes));
}

const ownersOf = (owned: readonly { tenant: TenantId; owner: Owner }[]) => ({
  tenants: owned.map(({ tenant }) => tenant),
  kinds: owned.map(({ owner }) => owner.kind),
  ownerIds: owned.map(({ owner }) => owner.id),
});

const INSERT_LANES = `
  INSERT INTO lanes (
    id, tenant, owner_kind, owner_id, state, generation, epoch, paused, next_position, next_seq,
    pending, pending_tokens, pending_backfill, nudged_backfill, flush_through, attempts, created_at, updated_at
  )
  SELECT n.id, n.tenant, n.kind, n.owner_id, 'idle', 0, 0, false, 1, 1, 0, 0, 0, false, 0, 0, n.now, n.now
  FROM unnest(@ids::text[], @tenants::text[], @kinds::text[], @ownerIds::text[], @nows::bigint[])
    AS n (id, tenant, kind, owner_id, now)
  WHERE NOT EXISTS (
    SELECT 1 FROM lanes l WHERE l.tenant = n.tenant AND l.owner_kind = n.kind AND l.owner_id = n.owner_id
  )
  ORDER BY n.tenant, n.kind, n.owner_id
  ON CONFLICT (tenant, owner_kind, owner_id) DO NOTHING`;

const LOCK_OWNERS = `
  SELECT l.* FROM lanes l
  JOIN (
    SELECT DISTINCT * FROM unnest(@tenants::text[], @kinds::text[], @ownerIds::text[]) AS n (tenant, kind, owner_id)
  ) n ON l.tenant = n.tenant AND l.owner_kind = n.kind AND l.owner_id = n.owner_id
  ORDER BY l.id FOR NO KEY UPDATE OF l`;

const SELECT_ID = 'SELECT id FROM lanes WHERE tenant = @tenant AND owner_kind = @kind AND owner_id = @ownerId';
