import type { IndexLane } from '@slowwave/engine';
import type { Sql } from '../ledger/sql.ts';
import { isThere, ownerKey, type PointTables, SLOTS } from './format.ts';

/**
 * Deletes a lane's points. What other points the owner has move to a new number and close up: whoever has read the owner
 * knows its slots by number, and numbers are never given again.
 */
export function forgetLane(sql: Sql, { owners, points }: PointTables, of: IndexLane): number {
  if (!isThere(sql, points) || !isThere(sql, owners)) return 0;
  const key = ownerKey(of);
  const find = () => sql.get<{ number: number }>(`SELECT number FROM ${owners} ${WHERE_OWNER}`, key);
  const owner = find();
  if (owner === null) return 0;
  const ofLane = `owner = @number AND json_extract(payload, '$.lane') = @lane`;
  const gone = sql.run(`DELETE FROM ${points} WHERE ${ofLane}`, { ...owner, lane: of.lane });
  if (gone === 0) return 0;
  const rest = sql.all<{ row: number }>(`SELECT row FROM ${points} WHERE owner = @number ORDER BY row`, owner);
  sql.run(`DELETE FROM ${owners} WHERE number = @number`, owner);
  if (rest.length === 0) return gone;
  sql.run(`INSERT INTO ${owners} ${NEW_OWNER}`, { ...key, points: rest.length });
  const moved = find()?.number ?? 0;
  const move = `UPDATE ${points} SET row = @to, owner = @moved, change = 1 WHERE row = @row`;
  for (const [slot, { row }] of rest.entries()) sql.run(move, { row, to: moved * SLOTS + slot, moved });
  return gone;
}

const WHERE_OWNER = 'WHERE tenant = @tenant AND kind = @kind AND id = @id';
const NEW_OWNER = '(tenant, kind, id, changes, points) VALUES (@tenant, @kind, @id, 1, @points)';
