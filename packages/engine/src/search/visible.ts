import { type IndexHit, type IndexPoint, type IndexQuery, shownPart, type Visibility } from '../ports/search-index.ts';
import { best, bm25, cosine, keywordTable, type Scored } from '../text/scoring.ts';
import { type Millis, type SaidAt, saidBefore } from '../words.ts';
import { matches } from './filter/filter.ts';
import { compareIds } from './fuse.ts';

/** What decides whether a query sees a point. */
export type Sighted = Pick<
  IndexPoint,
  'live' | 'saidAt' | 'validFrom' | 'invalidAt' | 'expiresAt' | 'deletedAt' | 'scope'
> & { readonly shownFrom?: Millis | undefined };

/** Whether a query sees a point of its owner: the one definition for all indexes that decide it in code. */
export function visible(point: Sighted, query: Pick<IndexQuery, 'visibility' | 'filter'>): boolean {
  return inSight(point, query.visibility) && passes(point.scope, query.filter);
}

/** Whether it is what its memory says at a moment, by all that is known: of one that changes later it is first the one, then the other. */
export const saysAt = (point: Pick<Sighted, 'live' | 'shownFrom' | 'invalidAt'>, at: Millis): boolean =>
  point.live && holds(point, at);

function inSight(point: Sighted, visibility: Visibility): boolean {
  switch (visibility.kind) {
    case 'live':
      return saysAt(point, visibility.now) && unexpired(point, visibility.now);
    case 'as_of':
      return held(point, visibility.at) && unexpired(point, visibility.at);
    case 'every':
      return visibility.begunBy === null || point.validFrom <= visibility.begunBy;
    case 'live_or_said_after':
      return point.live || touchedAfter(point, visibility.after);
  }
}

const unexpired = ({ expiresAt }: Sighted, at: number): boolean => expiresAt === null || at < expiresAt;

/** What was said and has no time of its own to begin holds, by whatever clock. */
const holds = ({ shownFrom, invalidAt }: Pick<Sighted, 'shownFrom' | 'invalidAt'>, now: number): boolean =>
  (shownFrom === undefined || shownFrom <= now) && (invalidAt === null || now < invalidAt);

const held = ({ validFrom, shownFrom = validFrom, invalidAt }: Sighted, at: number): boolean =>
  shownFrom <= at && (invalidAt === null || at < invalidAt);

const touchedAfter = ({ saidAt, deletedAt }: Sighted, after: SaidAt): boolean =>
  saidBefore(after, saidAt) || (deletedAt !== null && saidBefore(after, deletedAt));

function passes(scope: IndexPoint['scope'], filter: IndexQuery['filter']): boolean {
  return (
    (filter.agentId === undefined || filter.agentId === scope.agentId) &&
    (filter.runId === undefined || filter.runId === scope.runId) &&
    (filter.appId === undefined || filter.appId === scope.appId)
  );
}

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
