import type { IndexHit, IndexPoint } from '../ports/search-index.ts';

/** Shares of the legs in a hybrid score: words found count more than vectors that are near. */
const KEYWORD_SHARE = 0.6;
const VECTOR_SHARE = 0.4;

export type SearchMode = 'hybrid' | 'vector' | 'keyword';

export interface FusedHit {
  readonly hit: IndexHit;
  /** 0…1. Orders the hits of one question; says little about whether any of them answers it: raw scores do. */
  readonly score: number;
}

/**
 * The hits of one question in their final order. A keyword score is taken relative to the best of the question, for
 * BM25 has no upper end; so is a vector score where both are mixed. Alone, a vector score is the cosine itself.
 */
export function fuse(hits: readonly IndexHit[], mode: SearchMode): FusedHit[] {
  const score = scoring(hits, mode);
  return hits
    .filter((hit) => foundBy(mode, hit))
    .map((hit) => ({ hit, score: score(hit) }))
    .sort((a, b) => b.score - a.score || compareIds(a.hit.point, b.hit.point));
}

function foundBy(mode: SearchMode, hit: IndexHit): boolean {
  const keyword = mode !== 'vector' && hit.keywordScore !== null;
  const vector = mode !== 'keyword' && hit.vectorScore !== null;
  return keyword || vector;
}

function scoring(hits: readonly IndexHit[], mode: SearchMode): (hit: IndexHit) => number {
  const topKeyword = highest(hits.map((hit) => hit.keywordScore));
  const topVector = highest(hits.map((hit) => hit.vectorScore));
  const keyword = (hit: IndexHit): number => share(hit.keywordScore, topKeyword);
  const vector = (hit: IndexHit): number => share(hit.vectorScore, topVector);
  if (mode === 'vector') return (hit) => share(hit.vectorScore, 1);
  if (mode === 'keyword' || topVector === 0) return keyword;
  if (topKeyword === 0) return vector;
  return (hit) => KEYWORD_SHARE * keyword(hit) + VECTOR_SHARE * vector(hit);
}

/** 0 where none is above it. */
export const highest = (scores: readonly (number | null)[]): number =>
  scores.reduce<number>((top, score) => Math.max(top, score ?? 0), 0);

/** What is opposite (a negative cosine) is as far away as what was not found. */
const share = (score: number | null, top: number): number =>
  top === 0 ? 0 : Math.min(1, Math.max(0, score ?? 0) / top);

/** The order of equal scores: by memory id, then version. Not by locale: the same on every machine. */
export function compareIds(a: Pick<IndexPoint, 'memoryId' | 'version'>, b: Pick<IndexPoint, 'memoryId' | 'version'>) {
  if (a.memoryId !== b.memoryId) return a.memoryId < b.memoryId ? -1 : 1;
  return a.version - b.version;
}
