import type { BuildNote, IndexLane, IndexMarker, IndexPoint, Withdrawal } from '@slowwave/engine';
import { EngineError, SHELVES } from '@slowwave/engine/storing';
import { checkVector } from '../../index-point.ts';
import { compactFile } from '../file.ts';
import { BUSY_TIMEOUT_MS, type Sql } from '../ledger/sql.ts';
import {
  markerOf,
  metaOf,
  OWNER_NAMED,
  ownerKey,
  renew,
  requireSpace,
  selectShelf,
  setMeta,
  shelfKey,
} from './format.ts';
import type { Head } from './heads.ts';
import { inOrder } from './packed-records.ts';
import { type BuildMethods, type IndexSpace, spaceText, type WriterMethods } from './protocol.ts';
import {
  BLOCK_SLOTS,
  blockOf,
  createTables,
  headIn,
  IN_USE,
  isThere,
  NEXT,
  namedIn,
  OLD,
  type Place,
  type PointTables,
  pointsOfBlock,
  putRow,
  renameTables,
  SLOTS,
  shelfNumber,
  TABLES,
  throwAway,
  throwAwayDiscarded,
} from './tables.ts';
import { isMadeAnew, NOTHING, type OwnerWriting, type Saying, sayingOf, takeIn, type Written } from './writing.ts';

/** Everything that changes the index, each call one transaction. */
export function indexWriter(sql: Sql, space: IndexSpace): WriterMethods {
  const transaction = sql.db.transaction((change: () => void) => change());
  return {
    upsert: (points) => {
      for (const point of points) checkVector(point.vector, space);
      transaction.immediate(() => {
        requireSpace(sql, space);
        writePoints({ sql, tables: IN_USE }, points);
      });
    },
    withdraw: (withdrawals) => {
      transaction.immediate(() => {
        requireSpace(sql, space);
        withdrawPoints({ sql, tables: IN_USE }, withdrawals);
      });
    },
    stamp: (marker) => transaction.immediate(() => stamp(sql, marker)),
    forget: (of) => {
      let gone = 0;
      transaction.immediate(() => {
        gone = [IN_USE, NEXT, OLD].reduce((sum, tables) => sum + forgetLane({ sql, tables }, of), 0);
      });
      return gone;
    },
    compact: () => compactFile(sql, { busyMs: BUSY_TIMEOUT_MS }),
    clear: () => {
      transaction.immediate(() => renew(sql, space));
      throwAwayDiscarded(sql);
    },
  };
}

function stamp(sql: Sql, marker: IndexMarker): void {
  const before = markerOf(sql);
  const taken = before !== null && before.ledgerId !== marker.ledgerId;
  if (taken && sql.get('SELECT 1 FROM names LIMIT 1') !== null) {
    throw new EngineError(
      `expected an empty index to stamp, got ${sql.db.name} with points of ledger ${before.ledgerId}; clear it first`,
      { code: 'index_unavailable', retryable: false },
    );
  }
  setMeta(sql, 'marker', JSON.stringify(marker));
}

/** What is kept of a build: which vectors it is for, and whether it took over already. */
interface StoredNote extends BuildNote {
  readonly space: string;
}

/**
 * A new index beside the one in use, in the same file: tables of their own that take over by their names, so that
 * whoever has the file open finds them at once. Each call is one transaction; throwing away is many.
 */
export function indexBuilder(sql: Sql, space: IndexSpace): BuildMethods {
  const transaction = sql.db.transaction((change: () => unknown) => change());
  const target = () => (isThere(sql, NEXT.owners) ? NEXT : IN_USE);
  return {
    begun: (ledgerId) => {
      const note = noteOf(sql);
      return note?.ledgerId === ledgerId && note.space === spaceText(space) ? note : null;
    },
    begin: (note) => {
      throwAwayAll(sql, NEXT);
      throwAwayAll(sql, OLD);
      transaction.immediate(() => {
        createTables(sql, NEXT);
        keep(sql, space, note);
      });
    },
    write: (points: readonly IndexPoint[]) => {
      for (const point of points) checkVector(point.vector, space);
      transaction.immediate(() => writePoints({ sql, tables: target() }, points));
    },
    forget: (of) => {
      let gone = 0;
      transaction.immediate(() => {
        gone = forgetLane({ sql, tables: target() }, of);
      });
      return gone;
    },
    withdraw: (withdrawals) => void transaction.immediate(() => withdrawPoints({ sql, tables: target() }, withdrawals)),
    note: (note) => void transaction.immediate(() => keep(sql, space, note)),
    takeOver: () => {
      if (target() === NEXT) transaction.immediate(() => swap(sql, space));
    },
    finish: (marker: IndexMarker) => {
      transaction.immediate(() => {
        setMeta(sql, 'marker', JSON.stringify(marker));
        sql.run("DELETE FROM meta WHERE key = 'rebuild'");
      });
      throwAwayAll(sql, OLD);
    },
  };
}

function noteOf(sql: Sql): StoredNote | null {
  const text = metaOf(sql, 'rebuild');
  return text === null ? null : (JSON.parse(text) as StoredNote);
}

const keep = (sql: Sql, space: IndexSpace, note: BuildNote): void =>
  setMeta(sql, 'rebuild', JSON.stringify({ ...note, space: spaceText(space) } satisfies StoredNote));

/** Without a marker until the build is finished: nobody believes it yet, whoever has another embedder is refused. */
function swap(sql: Sql, space: IndexSpace): void {
  renameTables(sql, IN_USE, OLD);
  renameTables(sql, NEXT, IN_USE);
  setMeta(sql, 'space', spaceText(space));
  sql.run("DELETE FROM meta WHERE key = 'marker'");
}

function throwAwayAll(sql: Sql, tables: PointTables): void {
  for (const table of TABLES) throwAway(sql, tables[table]);
}

/** Writes the points that are not older than what is there. */
const writePoints = (place: Place, points: readonly IndexPoint[]): void => change(place, points, sayingOf);

/** Leaves of these points nothing but that they are gone, and since which revision. */
const withdrawPoints = (place: Place, withdrawals: readonly Withdrawal[]): void =>
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
  if (row === null) throw new Error(`the owner of ${point.memoryId} was written but is missing`);
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
function forgetLane({ sql, tables }: Place, of: IndexLane): number {
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
