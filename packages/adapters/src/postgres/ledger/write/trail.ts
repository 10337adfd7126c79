import { type NewTrailEntry, withoutErased } from '@slowwave/engine';
import type { ErasureRow } from '../../../ledger/erasing.ts';
import * as rows from '../../../ledger/rows/trail.ts';
import { insertRows, type Table } from '../insert.ts';
import type { Sql } from '../sql.ts';

export async function appendTrail(sql: Sql, entries: readonly NewTrailEntry[]): Promise<void> {
  const hashes = rows.ownerHashesIn(entries);
  const erased = (await sql.all<rows.ErasedOwnerRow>(ERASED, { hashes })).map(rows.erasedOwnerFrom);
  await insertRows(sql, TRAIL, withoutErased(entries, erased).map(rows.trailRowOf));
}

export async function forgetOwnerInTrail(sql: Sql, erasureId: string, limit: number): Promise<number> {
  const erasure = await sql.get<ErasureRow>('SELECT * FROM erasures WHERE id = @erasureId', { erasureId });
  if (erasure === null || erasure.owner_id === null) return 0;
  const { tenant, owner_kind: kind, owner_id: ownerId } = erasure;
  return sql.run(rows.FORGET_OWNER_IN_TRAIL, { erasure: erasureId, tenant, kind, ownerId, limit });
}

export function dropOldTrail(sql: Sql, before: number, limit: number): Promise<number> {
  return sql.run(rows.DROP_OLD_TRAIL, { before, limit });
}

const ERASED = 'SELECT id, owner_hash, erased_at FROM erasures WHERE owner_hash = ANY(@hashes::text[])';

const TRAIL: Table<keyof rows.TrailRow> = {
  name: 'trail',
  columns: {
    ...{ tenant: 'text', at: 'bigint', id: 'text', actor: 'text', session: 'bigint', action: 'text' },
    ...{ subject_kind: 'text', subject_id: 'text', status: 'bigint', code: 'text', request_id: 'text' },
  },
  onConflict: 'ON CONFLICT DO NOTHING',
};
