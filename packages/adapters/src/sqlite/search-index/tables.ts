import type { Shelf } from '@slowwave/engine';
import { SHELVES } from '@slowwave/engine/storing';
import type { Sql } from '../ledger/sql.ts';
import { type Head, HeadReader } from './heads.ts';
import { type KeptPoint, type PackedRow, packRow, pointsIn } from './packed-records.ts';
import { termKey } from './record.ts';

/** Versions a shelf may have: the low part of a row id, so that an owner's rows lie side by side. */
export const SLOTS = 2 ** 24;

/** A shelf of an owner, by its number: those of an owner lie side by side. */
export const shelfNumber = (owner: number, shelf: Shelf): number => owner * SHELVES.length + SHELVES.indexOf(shelf);
/** Back from it. */
export const ownerOfShelf = (number: number): number => Math.floor(number / SHELVES.length);
export const shelfOf = (number: number): Shelf => SHELVES[number % SHELVES.length] as Shelf;

/** Slots of one block: as many as may be written anew with every few points, and read for each of the few that a hit shows. */
export const BLOCK_SLOTS = 64;

/** The row of the block that has what is in a row, if any has. */
export const blockOf = (row: number): number => row - (row % BLOCK_SLOTS);

/** A set of tables that are an index: the one in use, one in the making, and one to be thrown away. */
export interface PointTables {
  readonly owners: string;
  readonly shelves: string;
  readonly names: string;
  readonly loose: string;
  readonly blocks: string;
}

/** Tables of a file. */
export interface Place {
  readonly sql: Sql;
  readonly tables: PointTables;
}

export const TABLES = ['owners', 'shelves', 'names', 'loose', 'blocks'] as const;

const named = (end: string): PointTables => ({
  owners: `owners${end}`,
  shelves: `shelves${end}`,
  names: `names${end}`,
  loose: `loose${end}`,
  blocks: `blocks${end}`,
});

export const IN_USE = named('');
export const NEXT = named('_next');
export const OLD = named('_old');

/** How tables are named that nobody reads any more. */
const DISCARDED = 'discarded_';

/**
 * owners           one for each lane of an owner
 * owners.id        as JSON: half characters in an id would else become one and the same replacement character
 * owners.hash      of tenant, kind, id and lane, which are long: an owner is found by it, and known by them
 * shelves          of an owner, numbered by it: what is on one neither counts nor is read where another is asked
 * shelves.changes  grows with every write to its points: who has read up to it has read everything
 * shelves.slots    how many were given to points; a point keeps its slot, and a slot is never given again
 * shelves.points   how many points there are, withdrawn ones left out
 * names            which slot a point has, by a hash of its name: shelf × 2²⁴ + hash, or the next one that was free
 * loose            points that are not as they are in the block of their slot, each a row of its own: shelf × 2²⁴ + slot
 * blocks           points by 64 slots: shelf × 2²⁴ + the first slot. What is loose meanwhile may be in them as it was before; what was
 *                  withdrawn or forgotten never is. Of what is withdrawn only the head is kept
 * change           the shelf's count when the last of the points of a row was written
 * heads, shown, records: see packed-records.ts. Only as much of a row is read from the file as stands before what is asked for
 */
const tablesFor = ({ owners, shelves, names, loose, blocks }: PointTables): string => `
CREATE TABLE ${owners} (
  number INTEGER PRIMARY KEY AUTOINCREMENT,
  tenant TEXT NOT NULL,
  kind TEXT NOT NULL,
  id TEXT NOT NULL,
  lane TEXT NOT NULL,
  hash INTEGER NOT NULL,
  UNIQUE (tenant, hash, number) -- as a constraint, it is renamed with its table
) STRICT;
CREATE TABLE ${shelves} (
  number INTEGER PRIMARY KEY,
  changes INTEGER NOT NULL,
  slots INTEGER NOT NULL,
  points INTEGER NOT NULL
) STRICT;
CREATE TABLE ${names} (row INTEGER PRIMARY KEY, slot INTEGER NOT NULL) STRICT;
CREATE TABLE ${loose} (${ROW}) STRICT;
CREATE TABLE ${blocks} (${ROW}) STRICT;
`;

const ROW = `
  row INTEGER PRIMARY KEY, change INTEGER NOT NULL, heads BLOB NOT NULL, shown BLOB NOT NULL, records BLOB NOT NULL`;

export const createTables = (sql: Sql, tables: PointTables): void => void sql.db.exec(tablesFor(tables));

export function renameTables(sql: Sql, from: PointTables, to: PointTables): void {
  for (const table of TABLES) sql.db.exec(`ALTER TABLE ${from[table]} RENAME TO ${to[table]}`);
}

export const isThere = (sql: Sql, name: string): boolean =>
  sql.get('SELECT 1 FROM sqlite_schema WHERE name = @name', { name }) !== null;

/** From one moment to the next nobody finds these tables any more; `throwAwayDiscarded` takes its time. */
export function discardTables(sql: Sql): void {
  const kept = `name <> 'meta' AND name NOT GLOB 'sqlite_*' AND name NOT GLOB '${DISCARDED}*'`;
  const tables = sql.all<{ name: string }>(`SELECT name FROM sqlite_schema WHERE type = 'table' AND ${kept}`);
  let number = 1;
  for (const { name } of tables) {
    while (isThere(sql, `${DISCARDED}${number}`)) number += 1;
    sql.db.exec(`ALTER TABLE ${name} RENAME TO ${DISCARDED}${number}`);
  }
}

/** Rows thrown away at a time: vectors fill pages of their own, and others write meanwhile. */
const SLICE = 500;

/** A slice at a time, so that others who write wait for milliseconds only. Several may do it at once. */
export function throwAway(sql: Sql, table: string): void {
  const slice = sql.db.transaction(() => {
    if (!isThere(sql, table)) return 0;
    const gone = sql.run(`DELETE FROM ${table} WHERE rowid IN (SELECT rowid FROM ${table} LIMIT ${SLICE})`);
    if (gone === 0) sql.db.exec(`DROP TABLE ${table}`);
    return gone;
  });
  while (slice.immediate() > 0);
}

export function throwAwayDiscarded(sql: Sql): void {
  const tables = `SELECT name FROM sqlite_schema WHERE type = 'table' AND name GLOB '${DISCARDED}*'`;
  for (const { name } of sql.all<{ name: string }>(tables)) throwAway(sql, name);
}

/** A row of a table of points. */
export interface StoredRow extends PackedRow {
  readonly row: number;
  readonly heads: Buffer;
  readonly shown: Buffer;
  readonly records: Buffer;
}

/** What a version of a memory is called. */
interface Name {
  readonly memoryId: string;
  readonly version: number;
}

/** Where the slot of a point stands in `names`, and which it is; null: it has none, and this is where it would stand. */
interface Named {
  readonly row: number;
  readonly slot: number | null;
}

/** By the hash of a name, and from there on to the first that has it; `headOf` reads what one is called. */
export function namedIn(
  { sql, tables: { names } }: Place,
  owner: number,
  { name, headOf }: { name: Name; headOf: (slot: number) => Name | null },
): Named {
  const hash = hashOf(name);
  for (let next = 0; next < SLOTS; next += 1) {
    const row = owner * SLOTS + ((hash + next) % SLOTS);
    const slot = sql.get<{ slot: number }>(`SELECT slot FROM ${names} WHERE row = @row`, { row })?.slot ?? null;
    if (slot === null) return { row, slot };
    const head = headOf(slot);
    if (head?.memoryId === name.memoryId && head.version === name.version) return { row, slot };
  }
  throw new Error('an owner has the maximum number of names already');
}

/** Of a name: 24 bits. */
export const hashOf = ({ memoryId, version }: Name): number => termKey(`${memoryId}/${version}`).low % SLOTS;

/** The head of a point, wherever it is; null: nowhere. */
export function headIn({ sql, tables }: Place, row: number): Head | null {
  for (const [table, at] of [
    [tables.loose, row],
    [tables.blocks, blockOf(row)],
  ] as const) {
    const found = sql.get<Pick<StoredRow, 'heads' | 'change'>>(`SELECT change, heads FROM ${table} WHERE row = @at`, {
      at,
    });
    const reader = new HeadReader(found?.heads ?? NONE, { first: at % SLOTS, change: found?.change ?? 0 });
    while (reader.next()) if (reader.slot === row % SLOTS) return reader.head;
  }
  return null;
}

const NONE = new Uint8Array();

/** The points of the block that begins in a row as they are now, by their slots. */
export function pointsOfBlock({ sql, tables }: Place, first: number): Map<number, KeptPoint> {
  const columns = 'row, change, heads, shown, records';
  const rows = [
    ...sql.all<StoredRow>(`SELECT ${columns} FROM ${tables.blocks} WHERE row = @first`, { first }),
    ...sql.all<StoredRow>(`SELECT ${columns} FROM ${tables.loose} WHERE row BETWEEN @first AND @last`, {
      first,
      last: first + BLOCK_SLOTS - 1,
    }),
  ];
  // What is loose is newer than what its block has of it.
  return new Map(
    rows.flatMap(({ row, ...packed }) => pointsIn(packed, row % SLOTS).map((point) => [point.head.slot, point])),
  );
}

export function putRow({ sql }: Place, table: string, { row, points }: { row: number; points: readonly KeptPoint[] }) {
  const { change, heads, shown, records } = packRow(points, row % SLOTS);
  sql.run(`INSERT OR REPLACE INTO ${table} (row, change, heads, shown, records) VALUES (?, ?, ?, ?, ?)`, [
    ...[row, change],
    ...([heads, shown, records] as Buffer[]),
  ]);
}
