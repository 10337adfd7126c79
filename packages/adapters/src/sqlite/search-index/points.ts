import type { IndexLane, IndexPoint, Withdrawal } from '@slowwave/engine';
import { SHELVES } from '@slowwave/engine/storing';
import { OWNER_NAMED, ownerKey, selectShelf, shelfKey } from './format.ts';
import type { Head } from './heads.ts';
import { inOrder } from './packed-row.ts';
import { headIn, namedIn, pointsOfBlock, putRow } from './rows.ts';
import { BLOCK_SLOTS, blockOf, isThere, type Place, SLOTS, shelfNumber, TABLES } from './tables.ts';
import { isMadeAnew, NOTHING, type OwnerWriting, type Saying, sayingOf, takeIn, type Written } from './writing.ts';

/** Writes the points that are not older than what is there. */
export const writePoints = (place: Place, points: readonly IndexPoint[]): void => change(place, points, sayingOf);

/** Leaves of these points nothing but that they are gone, and since which revision. */
export const withdrawPoints = (place: Place, withdrawals: readonly Withdrawal[]): void =>
  change(place, withdrawals, () => NOTHING);

/** Writes what is not older than what is there; one new change of every owner it touched. */
function change<T extends Withdrawal>(place: Place, given: readonly T[], saying: (one: T) => Saying): void {
  const { sql, tables } = place;
  const touched = new Map<string, OwnerWriting>();
  for (const one of given) {
    const key = JSON.stringify(shelfKey(one));
    const owner = touched.get(key) ?? ownerStateOf(place, one);
    touched.set(key, owner);
    writeOne(place, owner, { at: one, says: saying(one) });
  }
  for (const owner of touched.values()) {
    const { number, changes, slots, points, written } = owner;
    const set = 'SET changes = @changes, slots = @slots, points = @points';
    sql.run(`UPDATE ${tables.shelves} ${set} WHERE number = @number`, { number, slots, points, changes: changes + 1 });
    for (const ofBlock of written) keepBlock(place, owner, ofBlock);
  }
}

function ownerStateOf({ sql, tables }: Place, point: Withdrawal): OwnerWriting {
  const known = sql.get<Omit<OwnerWriting, 'written'>>(selectShelf(tables), shelfKey(point));
  if (known !== null) return { ...known, written: new Map() };
  const number = shelfNumber(openOwner({ sql, tables }, point), point.shelf);
  sql.run(`INSERT INTO ${tables.shelves} (number, changes, slots, points) VALUES (?, 0, 0, 0)`, [number]);
  return { number, changes: 0, slots: 0, points: 0, written: new Map() };
}

function openOwner({ sql, tables: { owners } }: Place, point: Withdrawal): number {
  const key = ownerKey(point);
  const row =
    sql.get<{ number: number }>(`SELECT number FROM ${owners} WHERE ${OWNER_NAMED}`, key) ??
    sql.get<{ number: number }>(
      `INSERT INTO ${owners} (tenant, kind, id, lane, hash) VALUES (@tenant, @kind, @id, @lane, @hash) RETURNING number`,
      key,
    );
  if (row === null) throw new Error(`the owner of ${point.memoryId} was written and is not there`);
  return row.number;
}

function writeOne(place: Place, owner: OwnerWriting, { at, says }: { at: Withdrawal; says: Saying }): void {
  const firstRow = owner.number * SLOTS;
  const headOf = (slot: number): Head | null =>
    owner.written.get(blockOf(slot))?.get(slot)?.point.head ?? headIn(place, firstRow + slot);
  const named = namedIn(place, owner.number, { name: at, headOf });
  const known = named.slot === null ? null : headOf(named.slot);
  const slot = takeIn(owner, { at, says, known });
  if (known !== null || slot === null) return;
  place.sql.run(`INSERT INTO ${place.tables.names} (row, slot) VALUES (?, ?)`, [named.row, slot]);
}

/** One in four would take 65 bytes more for each exchange, and write points in a tenth less time. */
const LOOSE_ONE_IN = 6;

/** Writes points into their block, with all that was loose, or leaves them loose. */
function keepBlock(place: Place, { number, slots }: OwnerWriting, [first, written]: OfBlock): void {
  const { sql, tables } = place;
  const row = number * SLOTS + first;
  const range = { first: row, last: row + BLOCK_SLOTS - 1 };
  const within = `FROM ${tables.loose} WHERE row BETWEEN @first AND @last`;
  const loose = sql.all<{ row: number }>(`SELECT row ${within}`, range).map((one) => one.row % SLOTS);
  if (!isMadeAnew(written, { first, slots, loose, looseOneIn: LOOSE_ONE_IN })) {
    for (const [slot, { point }] of written)
      putRow(place, tables.loose, { row: number * SLOTS + slot, points: [point] });
    return;
  }
  const points = pointsOfBlock(place, row);
  for (const [slot, { point }] of written) points.set(slot, point);
  putRow(place, tables.blocks, { row, points: inOrder(points) });
  if (loose.length > 0) sql.run(`DELETE ${within}`, range);
}

type OfBlock = readonly [first: number, written: ReadonlyMap<number, Written>];

/**
 * Deletes a lane's points, whatever shelf they are on. They lie under numbers of the lane's own: what its owner has in another
 * lane is not touched, and whoever has read the lane knows it by a number that is never given again.
 */
export function forgetLane({ sql, tables }: Place, of: IndexLane): number {
  if (!TABLES.every((table) => isThere(sql, tables[table]))) return 0;
  const text = `DELETE FROM ${tables.owners} WHERE ${OWNER_NAMED} RETURNING number`;
  const owner = sql.get<{ number: number }>(text, ownerKey(of));
  if (owner === null) return 0;
  const [first, next] = [owner.number * SHELVES.length, (owner.number + 1) * SHELVES.length];
  const gone = sql.all<{ points: number }>(
    `DELETE FROM ${tables.shelves} WHERE number >= @first AND number < @next RETURNING points`,
    { first, next },
  );
  for (const table of [tables.names, tables.loose, tables.blocks])
    sql.run(`DELETE FROM ${table} WHERE row >= @first AND row < @next`, { first: first * SLOTS, next: next * SLOTS });
  return gone.reduce((sum, { points }) => sum + points, 0);
}
