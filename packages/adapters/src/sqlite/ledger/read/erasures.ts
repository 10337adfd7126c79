import type { Erasure, LaneId, TenantId } from '@slowwave/engine';
import { type ErasureRow, erasureFrom } from '../../../ledger/erasing.ts';
import type { Sql } from '../sql.ts';

export function getErasure(sql: Sql, tenant: TenantId, id: string): Erasure | null {
  const row = sql.get<ErasureRow>('SELECT * FROM erasures WHERE tenant = @tenant AND id = @id', { tenant, id });
  return row === null ? null : erasureFrom(row);
}

/** Oldest first. */
export function openErasures(sql: Sql, limit: number): readonly Erasure[] {
  return sql.all<ErasureRow>(SELECT_OPEN, { limit }).map(erasureFrom);
}

export const isStanding = (sql: Sql, lane: LaneId): boolean =>
  sql.get('SELECT 1 FROM lanes WHERE id = @lane AND erasure IS NULL', { lane }) !== null;

const SELECT_OPEN = `SELECT * FROM erasures WHERE state <> 'erased' ORDER BY requested_at, id LIMIT @limit`;
