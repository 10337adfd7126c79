import type { IndexLane, IndexPoint } from '@slowwave/engine';
import type { Sql } from '../ledger/sql.ts';
import { isThere, OWNER_NAMED, ownerKey, type PointTables, SLOTS } from './format.ts';

/** Deletes a lane's points, whatever shelf they are on. */
export function forgetLane(sql: Sql, tables: PointTables, of: IndexLane): number {
  if (!isThere(sql, tables.points) || !isThere(sql, tables.owners)) return 0;
  return forgetOn(sql, tables, { ...of, shelf: 'memories' }) + forgetOn(sql, tables, { ...of, shelf: 'messages' });
}

/**
 * What other points the owner has move to a new number and close up: whoever has read the owner
 * knows its slots by number, and numbers are never given again.
 */
function forgetOn(sql: Sql, { owners, points }: PointTables, of: LaneOnShelf): number {
  const key = ownerKey(of);
  const find = () => sql.get<{ number: number }>(`SELECT number FROM ${owners} WHERE ${OWNER_NAMED}`, key);
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

type LaneOnShelf = IndexLane & Pick<IndexPoint, 'shelf'>;

const NEW_OWNER = '(tenant, kind, id, shelf, changes, points) VALUES (@tenant, @kind, @id, @shelf, 1, @points)';
