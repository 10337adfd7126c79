import type { IndexQuery, LaneId, Owner, PointName, TenantId } from '@slowwave/engine';
import { SHELVES } from '@slowwave/engine/storing';
import { checkVector } from '../../index-point.ts';
import type { Sql } from '../ledger/sql.ts';
import { foreignMarker, isOfSpace, markerOf, requireSpace, selectShelf, shelfKey } from './format.ts';
import type { Seen } from './legs.ts';
import {
  type Filtering,
  foundIn,
  type Narrowed,
  NOTHING_FITS,
  shownOf,
  type TouchedSlot,
  touchedIn,
} from './looking.ts';
import { type OwnerRow, type OwnerTable, ownerCache } from './owners.ts';
import { inOrder } from './packed-records.ts';
import { keptJson, ShownRow } from './packed-shown.ts';
import {
  type FoundPoints,
  type IndexThreadInit,
  isForDecision,
  type PagedPoint,
  type ReaderMethods,
  takingTurns,
} from './protocol.ts';
import { segmentOf } from './stored-point.ts';
import {
  BLOCK_SLOTS,
  blockOf,
  headIn,
  IN_USE,
  namedIn,
  ownerOfShelf,
  pointsOfBlock,
  SLOTS,
  type StoredRow,
  shelfNumber,
  shelfOf,
} from './tables.ts';

/** Everything that only reads the index, each call on one snapshot; of a search, each query. */
export function indexReader(
  sql: Sql,
  { space, cache: sizes }: Pick<IndexThreadInit, 'space' | 'cache'>,
): ReaderMethods {
  const snapshot = sql.db.transaction((read: () => unknown) => read());
  const cache = ownerCache(sql, { dimensions: space.dimensions, ...sizes });
  const answer = (query: IndexQuery): FoundPoints =>
    snapshot(() => {
      requireSpace(sql, space);
      const table = cache.tableOf(query);
      return table === null ? shownOf([], () => null) : answerOf(sql, table, query);
    }) as FoundPoints;
  const turns = takingTurns<IndexQuery, FoundPoints>(answer, isForDecision);
  return {
    marker: () =>
      snapshot(() => (isOfSpace(sql, space) ? markerOf(sql) : foreignMarker(sql))) as ReturnType<
        ReaderMethods['marker']
      >,
    drop: (of) => {
      for (const shelf of SHELVES) cache.drop({ ...of, shelf });
    },
    count: (tenant, shelf) => sql.get<{ count: number }>(COUNT, { tenant, place: shelfNumber(0, shelf) })?.count ?? 0,
    vectors: (names) => {
      requireSpace(sql, space);
      return names.map((name) => vectorOf(sql, name, space.dimensions));
    },
    page: (after, limit) => snapshot(() => pageOf(sql, after, limit)) as ReturnType<ReaderMethods['page']>,
    search: async (queries) => {
      for (const { vector } of queries) if (vector !== null) checkVector(vector, space);
      return turns(queries);
    },
  };
}

function vectorOf(sql: Sql, { memoryId, version, ...of }: PointName, dimensions: number): Float32Array | null {
  const owner = sql.get<{ number: number }>(selectShelf(IN_USE), shelfKey(of));
  if (owner === null) return null;
  const place = { sql, tables: IN_USE };
  const firstRow = owner.number * SLOTS;
  const headOf = (slot: number) => headIn(place, firstRow + slot);
  const { slot } = namedIn(place, owner.number, { name: { memoryId, version }, headOf });
  const said = slot === null ? null : (pointsOfBlock(place, blockOf(firstRow + slot)).get(slot)?.said ?? null);
  const [point] = said === null ? [] : segmentOf(said.record).points;
  return point?.hasVector === true ? point.vector.subarray(0, dimensions) : null;
}

const COUNT = `
  SELECT coalesce(sum(s.points), 0) AS count
  FROM owners o JOIN shelves s ON s.number = ${SHELVES.length} * o.number + @place WHERE o.tenant = @tenant`;

/** In the order of rows: blocks are read as a whole, and then as much of them as there is room for. */
function pageOf(sql: Sql, after: string | null, limit: number): ReturnType<ReaderMethods['page']> {
  const points: (PagedPoint & { readonly row: number })[] = [];
  let next = Number(after ?? -1) + 1;
  for (let first = firstBlockFrom(sql, next); first !== null && points.length < limit; ) {
    points.push(...pagedIn(sql, first).filter(({ row }) => row >= next));
    next = first + BLOCK_SLOTS;
    first = firstBlockFrom(sql, next);
  }
  const page = points.slice(0, limit);
  return { points: page, next: page.length < limit ? null : String(page.at(-1)?.row) };
}

/** The points of a block, and where each is. */
function pagedIn(sql: Sql, first: number): (PagedPoint & { readonly row: number })[] {
  const number = Math.floor(first / SLOTS);
  const named = sql.get<OwnerOfRow>(OWNER_OF, { number: ownerOfShelf(number) });
  if (named === null) throw new Error('an owner that is gone still has points');
  const { kind, id, ...lane } = named;
  const owner = { kind, id: JSON.parse(id) as string };
  return inOrder(pointsOfBlock({ sql, tables: IN_USE }, first)).flatMap(({ head, said }) => {
    if (said === null) return [];
    const { slot, memoryId, version, live, moments } = head;
    const place = { ...lane, shelf: shelfOf(number), owner, memoryId, version, live: live === 1 };
    return [{ payload: keptJson(said.parts, moments), place, row: first - (first % SLOTS) + slot }];
  });
}

/** The first row from one on that begins a block of which there is anything, as a whole or loose. */
function firstBlockFrom(sql: Sql, row: number): number | null {
  const rows = sql
    .all<{ row: number | null }>(FIRST_ROWS, { block: blockOf(row), row })
    .flatMap(({ row }) => (row === null ? [] : [blockOf(row)]));
  return rows.length === 0 ? null : Math.min(...rows);
}

const FIRST_ROWS = `
SELECT min(row) AS row FROM blocks WHERE row >= @block UNION ALL SELECT min(row) FROM loose WHERE row >= @row`;

interface OwnerOfRow {
  readonly tenant: TenantId;
  readonly kind: Owner['kind'];
  /** As JSON. */
  readonly id: string;
  readonly lane: LaneId;
}

const OWNER_OF = 'SELECT tenant, kind, id, lane FROM owners WHERE number = @number';

/** What the legs find; of what is found it is read from the file what hits show, unless that is in memory. */
function answerOf(sql: Sql, table: OwnerTable, query: IndexQuery): FoundPoints {
  const { many } = table;
  if (many !== null) return shownOf(foundIn(table, query, null), many.shownOf);
  const found = foundIn(table, query, fittingSlots(sql, table, query));
  readShown(
    sql,
    table.owner,
    found.flatMap(({ point }) => (point.shown === null ? [point] : [])),
  );
  return shownOf(found, ({ shown }) => shown);
}

/** Reads from the file what hits show of these points. */
function readShown(sql: Sql, { number }: OwnerRow, of: Seen): void {
  if (of.length === 0) return;
  const wanted = new Map(of.map((point) => [point.slot, point]));
  const rows = [...wanted.keys()].map((slot) => number * SLOTS + slot);
  // What is loose is newer than what its block has of it.
  for (const [text, of] of [
    [SHOWN_LOOSE, rows],
    [SHOWN_IN_BLOCKS, [...new Set(rows.map(blockOf))]],
  ] as const) {
    for (const { row, shown } of sql.all<ShownIn>(text, { rows: JSON.stringify(of) })) {
      const inRow = new ShownRow(shown, row % SLOTS);
      for (const [place, slot] of inRow.slots.entries()) {
        const point = wanted.get(slot);
        if (point !== undefined) point.shown ??= keptJson(inRow.partsAt(place), point.moments);
      }
    }
  }
}

type ShownIn = Pick<StoredRow, 'row' | 'shown'>;

const SHOWN_LOOSE = 'SELECT row, shown FROM loose WHERE row IN (SELECT value FROM json_each(@rows))';
const SHOWN_IN_BLOCKS = 'SELECT row, shown FROM blocks WHERE row IN (SELECT value FROM json_each(@rows))';

/** The slots of the owner's points that the question's filter is true of; null where it has none. */
function fittingSlots(sql: Sql, table: OwnerTable, query: IndexQuery): Narrowed {
  const { owner, fitting } = table;
  const { visibility, where } = query;
  if (where === null) return null;
  const known = fitting.get({ visibility, where }) ?? NOTHING_FITS;
  if (known.changes === owner.changes) return known;
  const now = known.with(owner.changes, touchedSince(sql, owner, { ...query, where, since: known.changes }));
  fitting.keep({ visibility, where }, now);
  return now;
}

/** Read from what a hit shows: nobody filters so much that more would pay. */
function touchedSince(sql: Sql, owner: OwnerRow, filtering: Filtering): readonly TouchedSlot[] {
  const touched = rowsSince(sql, owner, filtering.since).flatMap((row) => touchedIn(row, filtering));
  return [...new Map(touched.map((one) => [one.slot, one])).values()];
}

/** Rows with points that have changed since. What is loose comes last: it is newer than what its block has of it. */
function rowsSince(sql: Sql, { number }: OwnerRow, since: number) {
  const range = { first: number * SLOTS, last: (number + 1) * SLOTS - 1, since };
  return [CHANGED_IN_BLOCKS, CHANGED_LOOSE]
    .flatMap((text) => sql.all<Omit<StoredRow, 'records'>>(text, range))
    .map(({ row, ...packed }) => ({ ...packed, first: row % SLOTS }));
}

const CHANGED = 'WHERE row BETWEEN @first AND @last AND change > @since';
const CHANGED_IN_BLOCKS = `SELECT row, change, heads, shown FROM blocks ${CHANGED}`;
const CHANGED_LOOSE = `SELECT row, change, heads, shown FROM loose ${CHANGED}`;
