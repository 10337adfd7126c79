import type { IndexQuery, LaneId, Owner, PointName, TenantId } from '@slowwave/engine';
import { SHELVES } from '@slowwave/engine/storing';
import { checkVector } from '../../check-vector.ts';
import type { Sql } from '../ledger/sql.ts';
import { foreignMarker, isOfSpace, markerOf, requireSpace, selectShelf, shelfKey } from './format.ts';
import { ownerCache } from './owners.ts';
import { inOrder } from './packed-row.ts';
import { keptJson } from './packed-shown.ts';
import type { FoundPoint, IndexThreadInit, PagedPoint, ReaderMethods } from './protocol.ts';
import { headIn, namedIn, pointsOfBlock } from './rows.ts';
import { answerOf } from './search.ts';
import { segmentOf } from './stored-point.ts';
import { BLOCK_SLOTS, blockOf, IN_USE, ownerOfShelf, SLOTS, shelfNumber, shelfOf } from './tables.ts';
import { isForDecision, takingTurns } from './turns.ts';

/** Everything that only reads the index, each call on one snapshot; of a search, each query. */
export function indexReader(
  sql: Sql,
  { space, cache: sizes }: Pick<IndexThreadInit, 'space' | 'cache'>,
): ReaderMethods {
  const snapshot = sql.db.transaction((read: () => unknown) => read());
  const cache = ownerCache(sql, { dimensions: space.dimensions, ...sizes });
  const answer = (query: IndexQuery): FoundPoint[] =>
    snapshot(() => {
      requireSpace(sql, space);
      const table = cache.tableOf(query);
      return table === null ? [] : answerOf(sql, table, query);
    }) as FoundPoint[];
  const turns = takingTurns<IndexQuery, FoundPoint[]>(answer, isForDecision);
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
  if (named === null) throw new Error('points are left of an owner that is gone');
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
