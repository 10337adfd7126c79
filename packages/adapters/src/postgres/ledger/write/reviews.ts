import type { Application, LaneId, Settled, Settlement, TenantId, Turn } from '@slowwave/engine';
import { conflicts, writeChanges } from '../../../ledger/changes.ts';
import { runScript } from '../script.ts';
import type { Sql } from '../sql.ts';
import { lockLanes } from './lanes.ts';
import { openScopes } from './scopes.ts';

/** Operations of an applied plan begin to wait. */
export async function openReviews(sql: Sql, turn: Turn, { reviews, now }: Application): Promise<void> {
  if (reviews.length === 0) return;
  const { tenant, lane, consolidationId } = turn;
  const scopeOf = await openScopes(sql, [turn]);
  for (const operation of reviews) {
    const { id, memoryId } = operation;
    const scope = scopeOf(turn);
    const row = { id, tenant, lane, scope, consolidationId, memoryId, operation: JSON.stringify(operation), now };
    await sql.run(INSERT_REVIEW, row);
  }
}

/** Ends a pending review, and changes its memory when approved. */
export async function settleReview(
  sql: Sql,
  { tenant, id, settlement }: { tenant: TenantId; id: string; settlement: Settlement },
): Promise<Settled> {
  const { state, now } = settlement;
  const note = state === 'stale' ? settlement.note : null;
  const review = await sql.get<{ lane: LaneId }>(SELECT_PENDING, { tenant, id });
  if (review === null) return { kind: 'over' };
  await lockLanes(sql, state === 'approved' ? [review.lane, settlement.change.memory.lane] : [review.lane]);
  if ((await sql.get(SELECT_PENDING, { tenant, id })) === null) return { kind: 'over' }; // settled while this one waited
  if (state === 'approved') {
    const changes = [settlement.change];
    const memoryIds = await runScript(sql, conflicts(tenant, changes));
    if (memoryIds.length > 0) return { kind: 'conflict', memoryIds };
    await runScript(
      sql,
      writeChanges({ changes, tombstones: settlement.tombstones }, { tenant, consolidationId: null, now }),
    );
  }
  await sql.run(SETTLE, { tenant, id, state, note, now });
  return { kind: 'settled' };
}

const INSERT_REVIEW = `
  INSERT INTO reviews (id, tenant, lane, scope, consolidation_id, memory_id, operation, state, created_at)
  VALUES (@id, @tenant, @lane, @scope, @consolidationId, @memoryId, @operation::jsonb, 'pending', @now)`;

const SELECT_PENDING = `SELECT lane FROM reviews WHERE tenant = @tenant AND id = @id AND state = 'pending'`;

const SETTLE = `
  UPDATE reviews SET state = @state, note = @note, settled_at = @now WHERE tenant = @tenant AND id = @id`;
