import type { Application, Settled, Settlement, TenantId, Turn } from '@slowwave/engine';
import { conflicts, writeChanges } from '../../../ledger/changes.ts';
import { runScript } from '../script.ts';
import type { Sql } from '../sql.ts';
import { openScope } from './scopes.ts';

/** Operations of an applied plan begin to wait. */
export function openReviews(sql: Sql, turn: Turn, { reviews, now }: Application): void {
  const { tenant, lane, consolidationId } = turn;
  for (const operation of reviews) {
    sql.run(INSERT_REVIEW, {
      id: operation.id,
      tenant,
      lane,
      scope: openScope(sql, lane, turn.scope),
      consolidationId,
      memoryId: operation.memoryId,
      operation: JSON.stringify(operation),
      now,
    });
  }
}

/** Ends a pending review, and changes its memory when approved. */
export function settleReview(
  sql: Sql,
  { tenant, id, settlement }: { tenant: TenantId; id: string; settlement: Settlement },
): Settled {
  const { state, now } = settlement;
  const note = state === 'stale' ? settlement.note : null;
  if (sql.get(SELECT_PENDING, { tenant, id }) === null) return { kind: 'over' };
  if (state === 'approved') {
    const changes = [settlement.change];
    const memoryIds = runScript(sql, conflicts(tenant, changes));
    if (memoryIds.length > 0) return { kind: 'conflict', memoryIds };
    runScript(
      sql,
      writeChanges({ changes, tombstones: settlement.tombstones }, { tenant, consolidationId: null, now }),
    );
  }
  sql.run(SETTLE, { tenant, id, state, note, now });
  return { kind: 'settled' };
}

const INSERT_REVIEW = `
  INSERT INTO reviews (id, tenant, lane, scope, consolidation_id, memory_id, operation, state, created_at)
  VALUES (@id, @tenant, @lane, @scope, @consolidationId, @memoryId, @operation, 'pending', @now)`;

const SELECT_PENDING = `SELECT 1 FROM reviews WHERE tenant = @tenant AND id = @id AND state = 'pending'`;

const SETTLE = `
  UPDATE reviews SET state = @state, note = @note, settled_at = @now WHERE tenant = @tenant AND id = @id`;
