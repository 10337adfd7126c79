import { describe, expect, test } from 'vitest';
import { HASHED, LEARNT, type Vectors } from '../models/vectors.ts';
import type { IndexHit } from '../ports/search-index.ts';
import { fuse, type SearchMode } from './hits.ts';

/** Named by memory, and version if it matters: 'a' or 'a 2'. */
const hit = (name: string, vectorScore: number | null, keywordScore: number | null): IndexHit => ({
  point: pointOf(name),
  vectorScore,
  keywordScore,
});
const pointOf = (name: string): IndexHit['point'] => {
  const [memoryId, version = '1'] = name.split(' ');
  return { memoryId, version: Number(version) } as IndexHit['point'];
};
const shown = (hits: ReturnType<typeof fuse>): [string, number][] =>
  hits.map((fused) => [fused.hit.point.memoryId, Math.round(fused.score * 1_000) / 1_000]);

const legs = (mode: SearchMode, vectors: Vectors = FROM_ZERO) => ({ mode, vectors });
const FROM_ZERO: Vectors = { ...LEARNT, questions: { ...LEARNT.questions, apart: 0 } };

describe('fuse', () => {
  test('hybrid: six parts keyword and four parts vector, each relative to its best', () => {
    const hits = [hit('a', 0.8, 2), hit('b', 0.4, 4), hit('c', 0.2, null), hit('d', null, 1)];
    expect(shown(fuse(hits, legs('hybrid')))).toEqual([
      ['b', 0.8],
      ['a', 0.7],
      ['d', 0.15],
      ['c', 0.1],
    ]);
  });

  test('hybrid: of hashed vectors two parts, since they know little that words do not', () => {
    expect(shown(fuse([hit('a', 0.8, 2), hit('b', 0.4, 4)], legs('hybrid', HASHED)))).toEqual([
      ['b', 0.9],
      ['a', 0.6],
    ]);
  });

  test('hybrid: a leg that found nothing takes no share', () => {
    expect(shown(fuse([hit('a', 0.5, null), hit('b', 0.25, null)], legs('hybrid')))).toEqual([
      ['a', 1],
      ['b', 0.5],
    ]);
    expect(shown(fuse([hit('a', null, 3)], legs('hybrid')))).toEqual([['a', 1]]);
  });

  test('vector: the cosine itself, without what only the keyword leg found', () => {
    expect(shown(fuse([hit('a', 0.3, 9), hit('b', 0.5, null), hit('c', null, 9)], legs('vector')))).toEqual([
      ['b', 0.5],
      ['a', 0.3],
    ]);
  });

  test('keyword: relative to the best, without what only the vector leg found', () => {
    expect(shown(fuse([hit('a', 0.9, 1), hit('b', 0.1, 2), hit('c', 1, null)], legs('keyword')))).toEqual([
      ['b', 1],
      ['a', 0.5],
    ]);
  });

  test('equal scores are ordered by memory id, then version', () => {
    const hits = [hit('b', 0.5, null), hit('a 10', 0.5, null), hit('a 9', 0.5, null)];
    const order = fuse(hits, legs('hybrid')).map(({ hit: { point } }) => `${point.memoryId}${point.version}`);
    expect(order).toEqual(['a9', 'a10', 'b1']);
  });

  test('scores stay between 0 and 1, also for opposite vectors', () => {
    const scores = fuse([hit('a', -0.5, null), hit('b', -1, 3), hit('c', 1, 7)], legs('hybrid')).map(
      ({ score }) => score,
    );
    expect(scores.every((score) => score >= 0 && score <= 1)).toBe(true);
    expect(shown(fuse([hit('a', -0.5, null)], legs('hybrid')))).toEqual([['a', 0]]);
  });

  test('no hits give none', () => {
    expect(fuse([], legs('hybrid'))).toEqual([]);
  });
});
