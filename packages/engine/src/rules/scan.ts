import type { IndexHit, IndexPoint, IndexQuery } from '../ports/search-index.ts';
import { best, type Scored } from '../text/best.ts';
import { bm25, keywordTable } from '../text/bm25.ts';
import { cosine } from '../text/vectors.ts';
import { compareIds } from './fuse.ts';
import { visible } from './visible.ts';

/** One question answered by looking at every point: the reference for what an index finds. Hits by id and version. */
export function scan(points: readonly IndexPoint[], query: IndexQuery): IndexHit[] {
  const seen = points.filter((point) => isOwners(point, query) && visible(point, query)).sort(compareIds);
  const vector = new Map(best(vectorScores(seen, query), query.limit));
  const keyword = new Map(best(keywordScores(seen, query), query.limit));
  return seen.flatMap((point, i) => {
    if (!vector.has(i) && !keyword.has(i)) return [];
    const { vector: _, terms: __, ...shown } = point;
    return [{ point: shown, vectorScore: vector.get(i) ?? null, keywordScore: keyword.get(i) ?? null }];
  });
}

const isOwners = (point: IndexPoint, { tenant, owner }: IndexQuery): boolean =>
  point.tenant === tenant && point.owner.kind === owner.kind && point.owner.id === owner.id;

function vectorScores(seen: readonly IndexPoint[], { vector }: IndexQuery): Scored[] {
  return vector === null ? [] : seen.map((point, i) => [i, cosine(point.vector, vector)]);
}

function keywordScores(seen: readonly IndexPoint[], { terms }: IndexQuery): Iterable<Scored> {
  return terms === null ? [] : bm25(keywordTable(seen.map((point) => point.terms)), terms, () => true);
}
