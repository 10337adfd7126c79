import type { Erasure, LaneId, TenantId } from '@slowwave/engine';
import { type ErasureRow, erasureFrom } from '../../../ledger/erasing.ts';
import type { Sql } from '../sql.ts';

export async function getErasure(sql: Sql, tenant: TenantId, id: string): Promise<Erasure | null> {
  const row = await sql.get<ErasureRow>('SELECT * FROM erasures WHERE tenant = @tenant AND id = @id', { tenant, id });
  return row === null ? null : erasureFrom(row);
}

/** Oldest first. */
export async function openErasures(sql: Sql, limit: number): Promise<readonly Erasure[]> {
  return (await sql.all<ErasureRow>(SELECT_OPEN, { limit })).map(erasureFrom);
}

/** Which of these lanes are there, and not cut off. */
export async function standingLanes(sql: Sql, lanes: readonly LaneId[]): Promise<ReadonlySet<LaneId>> {
  const rows = await sql.all<{ id: LaneId }>(SELECT_STANDING, { lanes });
  return new Set(rows.map(({ id }) => id));
}

const SELECT_OPEN = `SELECT * FROM erasures WHERE state <> 'erased' ORDER BY requested_at, id LIMIT @limit`;

const SELECT_STANDING = 'SELECT id FROM lanes WHERE id = ANY(@lanes::text[]) AND erasure IS NULL';
