import type { IndexQuery, PointName } from '@slowwave/engine';
import { SHELVES, unpackedVector } from '@slowwave/engine/storing';
import { checkVector } from '../../check-vector.ts';
import type { Sql } from '../ledger/sql.ts';
import { foreignMarker, isOfSpace, markerOf, OWNER_NAMED, ownerKey, requireSpace } from './format.ts';
import { ownerCache } from './owners.ts';
import type { FoundPoint, IndexThreadInit, ReaderMethods } from './protocol.ts';
import { answerOf } from './search.ts';
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
      return names.map((name) => vectorOf(sql, name));
    },
    page: (after, limit) => {
      const rows = sql.all<{ row: number; payload: string }>(SELECT_PAGE, { after: Number(after ?? -1), limit });
      const next = rows.length < limit ? null : String(rows.at(-1)?.row);
      return { payloads: rows.map(({ payload }) => payload), next };
    },
    search: async (queries) => {
      for (const { vector } of queries) if (vector !== null) checkVector(vector, space);
      return turns(queries);
    },
  };
}

function vectorOf(sql: Sql, { memoryId, version, ...of }: PointName): Float32Array | null {
  const row = sql.get<{ vector: Buffer }>(SELECT_VECTOR, { ...ownerKey(of), memoryId, version });
  const vector = row === null || row.vector.length === 0 ? null : unpackedVector(row.vector);
  return vector?.some((value) => value !== 0) ? vector : null;
}

const SELECT_VECTOR = `
SELECT vector FROM points JOIN details USING (row)
WHERE owner = (SELECT number FROM owners WHERE ${OWNER_NAMED}) AND memory_id = @memoryId AND version = @version`;

const COUNT = 'SELECT coalesce(sum(points), 0) AS count FROM owners WHERE tenant = @tenant AND shelf = @shelf';

const SELECT_PAGE = `
SELECT row, payload FROM points JOIN details USING (row) WHERE row > @after AND live <> ${WITHDRAWN}
ORDER BY row LIMIT @limit`;
