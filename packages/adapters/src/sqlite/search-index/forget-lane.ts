import type { IndexLane, IndexPoint } from '@slowwave/engine';
import { SHELVES } from '@slowwave/engine/storing';
import { keepBlock } from './blocks.ts';
import { OWNER_NAMED, ownerKey } from './format.ts';
import { BLOCK_SLOTS, isThere, type Place, SLOTS, TABLES, WITHDRAWN } from './tables.ts';

/** Deletes a lane's points, whatever shelf they are on. */
export function forgetLane(place: Place, of: IndexLane): number {
  if (!TABLES.every((table) => isThere(place.sql, place.tables[table]))) return 0;
  return SHELVES.reduce((gone, shelf) => gone + forgetOn(place, { ...of, shelf }), 0);
}

interface OwnerRow {
  readonly number: number;
  readonly slots: number;
}

/**
 * What other points the owner has move to a new number, in their slots: whoever has read the owner knows its slots by
 * number, and numbers are never given again.
 */
function forgetOn(place: Place, of: IndexLane & Pick<IndexPoint, 'shelf'>): number {
  const { sql, tables } = place;
  const key = ownerKey(of);
  const find = () => sql.get<OwnerRow>(`SELECT number, slots FROM ${tables.owners} WHERE ${OWNER_NAMED}`, key);
  const owner = find();
  if (owner === null) return 0;
  const gone = deleteLane(place, owner, of.lane);
  if (gone === 0) return 0;
  const left = sql.get<{ rows: number; points: number }>(
    `SELECT count(*) AS rows, count(*) FILTER (WHERE live <> ${WITHDRAWN}) AS points
      FROM ${tables.points} WHERE owner = @number`,
    { number: owner.number },
  );
  sql.run(`DELETE FROM ${tables.owners} WHERE number = @number`, { number: owner.number });
  if (left === null || left.rows === 0) return gone;
  sql.run(`INSERT INTO ${tables.owners} ${NEW_OWNER}`, { ...key, slots: owner.slots, points: left.points });
  const moved = find();
  if (moved !== null) move(place, owner, moved);
  return gone;
}

const NEW_OWNER =
  '(tenant, kind, id, shelf, changes, slots, points) VALUES (@tenant, @kind, @id, @shelf, 1, @slots, @points)';

/** Blocks go whole: they have the lane's points among others. */
function deleteLane({ sql, tables }: Place, { number }: OwnerRow, lane: string): number {
  const mine = `json_extract(payload, '$.lane') = @lane`;
  const rows = `SELECT row FROM ${tables.details} WHERE ${OF_OWNER} AND ${mine}`;
  const gone = sql.run(`DELETE FROM ${tables.points} WHERE row IN (${rows})`, { ...rangeOf(number), lane });
  if (gone === 0) return 0;
  sql.run(`DELETE FROM ${tables.details} WHERE ${OF_OWNER} AND ${mine}`, { ...rangeOf(number), lane });
  sql.run(`DELETE FROM ${tables.blocks} WHERE ${OF_OWNER}`, rangeOf(number));
  return gone;
}

function move(place: Place, from: OwnerRow, to: OwnerRow): void {
  const { sql, tables } = place;
  const values = { ...rangeOf(from.number), by: (to.number - from.number) * SLOTS, number: to.number };
  const set = 'SET row = row + @by, owner = @number, change = 1, loose = 1';
  sql.run(`UPDATE ${tables.points} ${set} WHERE ${OF_OWNER}`, values);
  sql.run(`UPDATE ${tables.details} SET row = row + @by WHERE ${OF_OWNER}`, values);
  for (let slot = 0; slot < to.slots; slot += BLOCK_SLOTS) keepBlock(place, to.number * SLOTS + slot);
}

const OF_OWNER = 'row BETWEEN @first AND @last';
const rangeOf = (number: number) => ({ first: number * SLOTS, last: (number + 1) * SLOTS - 1 });
