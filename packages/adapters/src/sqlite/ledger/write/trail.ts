import type { NewTrailEntry } from '@slowwave/engine';
import { withoutErased } from '@slowwave/engine/storing';
import type { ErasureRow } from '../../../ledger/erasing.ts';
import * as rows from '../../../ledger/rows/trail.ts';
import { insertInto } from '../insert.ts';
import type { Sql } from '../sql.ts';

export function appendTrail(sql: Sql, { entries }: { entries: readonly NewTrailEntry[] }): void {
  const hashes = rows.ownerHashesIn(entries);
  const erased = sql.all<rows.ErasedOwnerRow>(ERASED, { hashes: JSON.stringify(hashes) }).map(rows.erasedOwnerFrom);
  for (const entry of withoutErased(entries, erased)) insert(sql, rows.trailRowOf(entry));
}

export function forgetOwnerInTrail(sql: Sql, { erasureId, limit }: { erasureId: string; limit: number }): number {
  const erasure = sql.get<ErasureRow>('SELECT * FROM erasures WHERE id = @erasureId', { erasureId });
  if (erasure === null || erasure.owner_id === null) return 0;
  const { tenant, owner_kind: kind, owner_id: ownerId } = erasure;
  return sql.run(rows.FORGET_OWNER_IN_TRAIL, { erasure: erasureId, tenant, kind, ownerId, limit });
}

export function dropOldTrail(sql: Sql, { before, limit }: { before: number; limit: number }): number {
  return sql.run(rows.DROP_OLD_TRAIL, { before, limit });
}

const ERASED = `
  SELECT id, owner_hash, erased_at FROM erasures WHERE owner_hash IN (SELECT value FROM json_each(@hashes))`;

const insert = insertInto<keyof rows.TrailRow>(
  'trail',
  [
    ...(['tenant', 'at', 'id', 'actor', 'session', 'action'] as const),
    ...(['subject_kind', 'subject_id', 'status', 'code', 'request_id'] as const),
  ],
  'ON CONFLICT DO NOTHING',
);
