import type { Sql } from '../ledger/sql.ts';

/** `live` of a point that was withdrawn: its row keeps its slot and its revision, and nothing of what it said. */
export const WITHDRAWN = 2;

/** Versions one owner may have: the low part of a row id, so that an owner's rows lie side by side. */
export const SLOTS = 2 ** 24;

/** Slots of one block. Read in a third of a millisecond at 1,024 dimensions, written anew in five. */
export const BLOCK_SLOTS = 512;

/** The row of the block that has what is in a row, if any has. */
export const blockOf = (row: number): number => row - (row % BLOCK_SLOTS);

/** A set of tables that are an index: the one in use, one in the making, and one to be thrown away. */
export interface PointTables {
  readonly owners: string;
  readonly points: string;
  readonly loose: string;
  readonly blocks: string;
}

/** Tables of a file. */
export interface Place {
  readonly sql: Sql;
  readonly tables: PointTables;
}

export const TABLES = ['owners', 'points', 'loose', 'blocks'] as const;

const named = (end: string): PointTables => ({
  owners: `owners${end}`,
  points: `points${end}`,
  loose: `loose${end}`,
  blocks: `blocks${end}`,
});

export const IN_USE = named('');
export const NEXT = named('_next');
export const OLD = named('_old');

/** How tables are named that nobody reads any more. */
const DISCARDED = 'discarded_';

/**
 * owners           one for each lane of an owner, and in it for each shelf: what is in one neither counts nor is read where
 *                  the other is asked
 * owners.id        as JSON: half characters in an id would else become one and the same replacement character
 * owners.changes   grows with every write to the owner's points: who has read up to it has read everything
 * owners.slots     how many were given to points; a point keeps its slot, and a slot is never given again
 * owners.points    how many points there are, withdrawn ones left out
 * points.row       owner × 2²⁴ + slot, as loose.row and blocks.row
 * points.live      1 what holds, 0 what once held, 2 withdrawn
 * points.change    the owner's count when the point was last written
 * points.payload   what a hit shows, see shown-point.ts
 * loose            records of points that the block of their slot does not have as they are, see stored-record.ts
 * blocks           records of points, by 512 slots: of all that are not loose. What no question reads any more may still be
 *                  in them, until they are written anew; what was withdrawn or forgotten never is.
 */
const tablesFor = ({ owners, points, loose, blocks }: PointTables, suffix: number): string => `
CREATE TABLE ${owners} (
  number INTEGER PRIMARY KEY AUTOINCREMENT,
  tenant TEXT NOT NULL,
  kind TEXT NOT NULL,
  id TEXT NOT NULL,
  lane TEXT NOT NULL,
  shelf TEXT NOT NULL,
  changes INTEGER NOT NULL,
  slots INTEGER NOT NULL,
  points INTEGER NOT NULL,
  UNIQUE (tenant, kind, id, lane, shelf)
) STRICT;
CREATE TABLE ${points} (
  row INTEGER PRIMARY KEY CHECK (row / ${SLOTS} = owner),
  owner INTEGER NOT NULL,
  change INTEGER NOT NULL,
  memory_id TEXT NOT NULL,
  version INTEGER NOT NULL,
  revision INTEGER NOT NULL,
  live INTEGER NOT NULL,
  payload TEXT NOT NULL,
  UNIQUE (owner, memory_id, version)
) STRICT;
CREATE INDEX ${BY_CHANGE}${suffix} ON ${points} (owner, change);
CREATE TABLE ${loose} (row INTEGER PRIMARY KEY, record BLOB NOT NULL) STRICT;
CREATE TABLE ${blocks} (row INTEGER PRIMARY KEY, records BLOB NOT NULL) STRICT;
`;

const BY_CHANGE = 'points_by_change_';

/** An index of a table goes with it when it is renamed, under its old name: a new table's needs another one. */
export function createTables(sql: Sql, tables: PointTables): void {
  let suffix = 1;
  while (isThere(sql, `${BY_CHANGE}${suffix}`)) suffix += 1;
  sql.db.exec(tablesFor(tables, suffix));
}

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
