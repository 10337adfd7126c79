import { setImmediate } from 'node:timers/promises';
import { best, bm25, cosineOf, dot, type IndexQuery, lengthOf, type Scored, visible } from '@slowwave/engine';
import { checkVector } from '../../vectors/check-vector.ts';
import type { Sql } from '../ledger/sql.ts';
import { foreignMarker, isOfSpace, markerOf, requireSpace, WITHDRAWN } from './format.ts';
import { ownerCache } from './owner-cache.ts';
import type { OwnerTable } from './owner-table.ts';
import type { FoundPoint, IndexSpace, ReaderMethods } from './protocol.ts';
import { fittingRows } from './sql-filter.ts';

/** Everything that only reads the index, each call on one snapshot; of a search, each query. */
export function indexReader(sql: Sql, { space, cacheBytes }: { space: IndexSpace; cacheBytes: number }): ReaderMethods {
  const snapshot = sql.db.transaction((read: () => unknown) => read());
  const cache = ownerCache(sql, { dimensions: space.dimensions, bytes: cacheBytes });
  const answer = (query: IndexQuery): FoundPoint[] =>
    snapshot(() => {
      requireSpace(sql, space);
      return found(sql, cache.tableOf(query), query);
    }) as FoundPoint[];
  return {
    marker: () =>
      snapshot(() => (isOfSpace(sql, space) ? markerOf(sql) : foreignMarker(sql))) as ReturnType<
        ReaderMethods['marker']
      >,
    drop: (of) => {
      cache.drop({ ...of, shelf: 'memories' });
      cache.drop({ ...of, shelf: 'messages' });
    },
    count: (tenant, shelf) => sql.get<{ count: number }>(COUNT, { tenant, shelf })?.count ?? 0,
    page: (after, limit) => {
      const rows = sql.all<{ row: number; payload: string }>(SELECT_PAGE, { after: Number(after ?? -1), limit });
      const next = rows.length < limit ? null : String(rows.at(-1)?.row);
      return { payloads: rows.map(({ payload }) => payload), next };
    },
    search: async (queries) => {
      for (const { vector } of queries) if (vector !== null) checkVector(vector, space);
      const answers: FoundPoint[][] = [];
      for (const query of queries) {
        // Others take their turn in between: a hundred queries of an owner with very much take a second.
        if (answers.length > 0) await setImmediate();
        answers.push(answer(query));
      }
      return answers;
    },
  };
}

const COUNT = `
SELECT coalesce(sum(points), 0) - (
  SELECT count(*) FROM points p JOIN owners o ON o.number = p.owner
  WHERE o.tenant = @tenant AND o.shelf = @shelf AND p.live = ${WITHDRAWN}
) AS count FROM owners WHERE tenant = @tenant AND shelf = @shelf`;

const SELECT_PAGE = `
SELECT row, payload FROM points WHERE row > @after AND live <> ${WITHDRAWN} ORDER BY row LIMIT @limit`;

/** The points either leg found, with only their payloads read from the file. */
function found(sql: Sql, table: OwnerTable, query: IndexQuery): FoundPoint[] {
  const fitting = fittingRows(sql, query);
  const seen = table.points.map((point) => visible(point, query) && (fitting?.has(point.row) ?? true));
  const vector = new Map(best(vectorScores(table, seen, query), query.limit));
  const keyword = new Map(best(keywordScores(table, seen, query), query.limit));
  const positions = [...new Set([...vector.keys(), ...keyword.keys()])].sort((a, b) => a - b);
  return positions.flatMap((i) => {
    const row = table.points[i]?.row ?? null;
    const stored = sql.get<{ payload: string }>('SELECT payload FROM points WHERE row = @row', { row });
    if (stored === null) return [];
    return [{ payload: stored.payload, vectorScore: vector.get(i) ?? null, keywordScore: keyword.get(i) ?? null }];
  });
}

function vectorScores(table: OwnerTable, seen: readonly boolean[], { vector }: IndexQuery): Scored[] {
  if (vector === null) return [];
  const asked = lengthOf(vector);
  return table.points.flatMap((point, i): Scored[] => {
    if (seen[i] !== true) return [];
    const product = dot(table.vectors, vector, point.slot * vector.length);
    return [[i, cosineOf(product, point.length * asked)]];
  });
}

function keywordScores(table: OwnerTable, seen: readonly boolean[], { terms, wide }: IndexQuery): Iterable<Scored> {
  return terms === null ? [] : bm25(wide ? table.wide : table.keywords, terms, (i) => seen[i] === true);
}
