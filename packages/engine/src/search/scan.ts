import type { IndexHit, IndexPoint, IndexQuery } from '../ports/search-index.ts';
import { shownPart } from '../projection/shown-part.ts';
import { best, type Scored } from '../text/best.ts';
import { bm25, keywordTable } from '../text/bm25.ts';
import { cosine } from '../text/vectors.ts';
import { matches } from './filter/matches.ts';
import { compareIds } from './fuse.ts';
import { visible } from './visible.ts';

/** One question answered by looking at every point: the reference for what an index finds. Hits by id and version. */
export function scan(points: readonly IndexPoint[], query: IndexQuery): IndexHit[] {
  const seen = points
    .filter((point) => isInLane(point, query) && visible(point, query) && fits(point, query))
    .sort(compareIds);
  const vector = new Map(best(vectorScores(seen, query), query.limit));
  const keyword = new Map(best(keywordScores(seen, query), query.limit));
  return seen.flatMap((point, i) => {
    if (!vector.has(i) && !keyword.has(i)) return [];
    return [{ point: shownPart(point), vectorScore: vector.get(i) ?? null, keywordScore: keyword.get(i) ?? null }];
  });
}

function isInLane(point: IndexPoint, { tenant, owner, lane, shelf }: IndexQuery): boolean {
  const { kind, id } = point.owner;
  return (
    point.tenant === tenant && kind === owner.kind && id === owner.id && point.lane === lane && point.shelf === shelf
  );
}

const fits = (point: IndexPoint, { where }: IndexQuery): boolean => where === null || matches(where, point);

function vectorScores(seen: readonly IndexPoint[], { vector }: IndexQuery): Scored[] {
  return vector === null ? [] : seen.map((point, i) => [i, cosine(point.vector, vector)]);
}

function keywordScores(seen: readonly IndexPoint[], { terms, wide }: IndexQuery): Iterable<Scored> {
  if (terms === null) return [];
  const texts = seen.map((point) => (wide ? [...point.terms, ...point.contextTerms] : point.terms));
  return bm25(keywordTable(texts), terms, () => true);
}
