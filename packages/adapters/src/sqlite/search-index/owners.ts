import type { IndexQuery } from '@slowwave/engine';
import type { Sql } from '../ledger/sql.ts';
import { selectShelf, shelfKey } from './format.ts';
import {
  type ChangedPoint,
  type FittingKept,
  fittingKept,
  keptOwners,
  type PointsOfOwner,
  withChanges,
} from './looking.ts';
import { MANY, manyPoints, type SaidPoint } from './many.ts';
import { changedIn, grownRecords } from './packed-records.ts';
import { type Segment, segmentOf } from './stored-point.ts';
import { BLOCK_SLOTS, IN_USE, SLOTS, type StoredRow } from './tables.ts';

interface OwnerCache {
  /** The owner's points as the current snapshot has them; null: there are none. Call it inside a transaction. */
  tableOf(of: Owned): OwnerTable | null;
  drop(of: Owned): void;
}

type Owned = Pick<IndexQuery, 'tenant' | 'owner' | 'lane' | 'shelf'>;

export interface CacheOptions {
  readonly dimensions: number;
  readonly bytes: number;
  /** Of owners with very many points, who would push out all others. */
  readonly bytesOfMany: number;
  /** From how many points on an owner has very many. */
  readonly many?: number;
}

/**
 * Keeps owners from their second question on, those that were asked about last, up to so many bytes. Before a table is
 * used its count of changes is compared with the file's, so that the writes of other threads and processes are seen.
 */
export function ownerCache(sql: Sql, { dimensions, bytes, bytesOfMany, many = MANY }: CacheOptions): OwnerCache {
  const few = keptOwners<OwnerTable>({ bytes });
  const large = keptOwners<OwnerTable>({ bytes: bytesOfMany, atOnce: true });
  let schema: number | null = null;

  // An index that was built anew has taken over: its owners have numbers of their own.
  const forgetReplaced = (): void => {
    const current = sql.get<{ schema_version: number }>(SCHEMA_VERSION)?.schema_version ?? null;
    if (current !== schema) for (const kept of [few, large]) kept.forgetAll();
    schema = current;
  };

  const forget = (name: string): void => {
    for (const kept of [few, large]) kept.forget(name);
  };
  const read = (owner: OwnerRow, fitting: FittingKept): OwnerTable =>
    owner.points < many
      ? { owner, segments: segmentsOf(sql, owner), many: null, fitting }
      : { owner, segments: [], many: manyPoints(saidBy(sql, owner), dimensions), fitting };
  /** null: it has to be read as a whole. */
  const now = (owner: OwnerRow, before: OwnerTable): OwnerTable | null =>
    before.many === null && owner.points >= many ? null : tableNow(sql, owner, before);

  return {
    drop: (of) => forget(nameOf(of)),
    tableOf: (of) => {
      forgetReplaced();
      const name = nameOf(of);
      const owner = sql.get<OwnerRow>(SELECT_SHELF, shelfKey(of));
      const known = few.get(name) ?? large.get(name);
      // What fails half-way through a change is not kept.
      forget(name);
      if (owner === null) return null;
      const before = known?.owner.number === owner.number ? known : null;
      const table = (before === null ? null : now(owner, before)) ?? read(owner, before?.fitting ?? fittingKept());
      (table.many === null ? few : large).keep(name, table);
      return table;
    },
  };
}

const nameOf = (of: Owned): string => JSON.stringify(shelfKey(of));

const SELECT_SHELF = selectShelf(IN_USE);

const SCHEMA_VERSION = 'SELECT schema_version FROM pragma_schema_version';

/** All points of one owner in memory, as they were after a count of changes. */
export interface OwnerTable extends PointsOfOwner {
  readonly owner: OwnerRow;
  /** What filters have left of it, also before. */
  readonly fitting: FittingKept;
}

/** An owner's points as they were under its number: a number stands for one set of slots, for ever. */
export interface OwnerRow {
  readonly number: number;
  readonly changes: number;
  readonly slots: number;
  readonly points: number;
}

/** Small segments at which the owner is read anew, as blocks. */
const SMALL_MAX = 64;

/** The owner as the file has it now, by what is known of it already; null: it has to be read as a whole. */
function tableNow(sql: Sql, owner: OwnerRow, known: OwnerTable): OwnerTable | null {
  if (known.owner.changes === owner.changes) return known;
  const { segments, many, fitting } = known;
  const changed = () => changedSince(sql, owner.number, { since: known.owner.changes, withShown: many !== null });
  if (many !== null) {
    const written = many.with(changed());
    return written === null ? null : { owner, segments, many: written, fitting };
  }
  const small = segments.length - Math.ceil(known.owner.slots / BLOCK_SLOTS);
  return small > SMALL_MAX ? null : { owner, segments: withChanges(segments, changed()), many, fitting };
}

function segmentsOf(sql: Sql, owner: OwnerRow): readonly Segment[] {
  const range = rangeOf(owner.number);
  const blocks = sql.all<RecordsRow>(BLOCKS, range).map((row) => segmentOf(grownRecords(row, row.row % SLOTS)));
  return withChanges(
    blocks,
    sql.all<RecordsRow>(LOOSE, range).flatMap((row) => changedIn(row, row.row % SLOTS)),
  );
}

/** With what hits show. */
function saidBy(sql: Sql, { number }: OwnerRow): readonly SaidPoint[] {
  return changedSince(sql, number, { since: -1, withShown: true }).flatMap(({ point, parts }) =>
    point === null || parts === null ? [] : [{ point, parts }],
  );
}

const rangeOf = (number: number) => ({ first: number * SLOTS, last: (number + 1) * SLOTS - 1 });

/** A row as far as questions look into it. */
type RecordsRow = Omit<StoredRow, 'shown'> & Partial<Pick<StoredRow, 'shown'>>;

/** What changed since, by slots: what is loose is newer than what its block has of it. */
function changedSince(
  sql: Sql,
  number: number,
  { since, withShown }: { readonly since: number; readonly withShown: boolean },
): ChangedPoint[] {
  const range = { ...rangeOf(number), since };
  const changed = (withShown ? SHOWN_CHANGED : RECORDS_CHANGED).flatMap((text) =>
    sql
      .all<RecordsRow>(text, range)
      .flatMap((row) => changedIn(row, row.row % SLOTS).filter(({ change }) => change > since)),
  );
  return [...new Map(changed.map((point) => [point.slot, point])).values()];
}

const COLUMNS = 'row, change, heads, records';
const OF_OWNER = 'WHERE row BETWEEN @first AND @last';
const BLOCKS = `SELECT ${COLUMNS} FROM blocks ${OF_OWNER} ORDER BY row`;
const LOOSE = `SELECT ${COLUMNS} FROM loose ${OF_OWNER}`;
const changedOf = (columns: string): readonly string[] =>
  ['blocks', 'loose'].map((table) => `SELECT ${columns} FROM ${table} ${OF_OWNER} AND change > @since`);
const RECORDS_CHANGED = changedOf(COLUMNS);
const SHOWN_CHANGED = changedOf(`${COLUMNS}, shown`);
