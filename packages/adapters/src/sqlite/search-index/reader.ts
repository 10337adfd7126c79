import type { IndexQuery, LaneId, Owner, PointName, Shelf, TenantId } from '@slowwave/engine';
import { SHELVES } from '@slowwave/engine/storing';
import { checkVector } from '../../check-vector.ts';
import type { Sql } from '../ledger/sql.ts';
import { foreignMarker, isOfSpace, markerOf, OWNER_NAMED, ownerKey, requireSpace } from './format.ts';
import { ownerCache, recordsInBlocks } from './owners.ts';
import type { FoundPoint, IndexThreadInit, PagedPoint, ReaderMethods } from './protocol.ts';
import { answerOf } from './search.ts';
import { keptVector } from './stored-record.ts';
import { WITHDRAWN } from './tables.ts';
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
    count: (tenant, shelf) => sql.get<{ count: number }>(COUNT, { tenant, shelf })?.count ?? 0,
    vectors: (names) => {
      requireSpace(sql, space);
      return names.map((name) => vectorOf(sql, name, space.dimensions));
    },
    page: (after, limit) => {
      const rows = sql.all<PageRow>(SELECT_PAGE, { after: Number(after ?? -1), limit });
      const next = rows.length < limit ? null : String(rows.at(-1)?.row);
      return { points: rows.map(pagedPoint), next };
    },
    search: async (queries) => {
      for (const { vector } of queries) if (vector !== null) checkVector(vector, space);
      return turns(queries);
    },
  };
}

function vectorOf(sql: Sql, { memoryId, version, ...of }: PointName, dimensions: number): Float32Array | null {
  const found = sql.get<{ row: number; record: Buffer | null }>(SELECT_RECORD, {
    ...{ ...ownerKey(of), memoryId, version, withdrawn: WITHDRAWN },
  });
  const record = found === null ? null : (found.record ?? recordsInBlocks(sql, [found.row]).get(found.row) ?? null);
  return record === null ? null : keptVector(record, dimensions);
}

const SELECT_RECORD = `
SELECT row, record FROM points LEFT JOIN loose USING (row)
WHERE owner = (SELECT number FROM owners WHERE ${OWNER_NAMED}) AND memory_id = @memoryId AND version = @version
  AND live <> @withdrawn`;

const COUNT = 'SELECT coalesce(sum(points), 0) AS count FROM owners WHERE tenant = @tenant AND shelf = @shelf';

interface PageRow {
  readonly row: number;
  readonly memory_id: string;
  readonly version: number;
  readonly live: number;
  readonly payload: string;
  readonly tenant: TenantId;
  readonly kind: Owner['kind'];
  /** As JSON. */
  readonly id: string;
  readonly lane: LaneId;
  readonly shelf: Shelf;
}

const pagedPoint = ({ payload, memory_id: memoryId, version, live, kind, id, ...row }: PageRow): PagedPoint => {
  const { tenant, lane, shelf } = row;
  const owner = { kind, id: JSON.parse(id) as string };
  return { payload, place: { memoryId, version, live: live === 1, owner, tenant, lane, shelf } };
};

const SELECT_PAGE = `
SELECT row, memory_id, version, live, payload, tenant, kind, id, lane, shelf
FROM points JOIN owners ON number = owner WHERE row > @after AND live <> ${WITHDRAWN}
ORDER BY row LIMIT @limit`;
