import { array, assert as check, integer, property } from 'fast-check';
import { describe, expect, test } from 'vitest';
import { best, bm25, cosine, dot, keywordTable, type Scored } from './hits.ts';

const all = (): boolean => true;
const table = keywordTable([['tea', 'green'], ['tea', 'tea', 'black', 'cup'], ['coffee'], []]);

describe('bm25', () => {
  test('it is the published formula with k1 = 0.9 and b = 0.4', () => {
    const rarity = Math.log(1 + (4 - 2 + 0.5) / (2 + 0.5));
    const mean = 7 / 4;
    const expected = (count: number, length: number): number =>
      (rarity * count * 1.9) / (count + 0.9 * (0.6 + (0.4 * length) / mean));
    const scores = bm25(table, ['tea'], all);
    expect([...scores.keys()].sort()).toEqual([0, 1]);
    expect(scores.get(0)).toBeCloseTo(expected(1, 2), 12);
    expect(scores.get(1)).toBeCloseTo(expected(2, 4), 12);
  });

  test('a rare term counts more than a common one', () => {
    const scores = bm25(table, ['green', 'tea'], all);
    expect(scores.get(0)).toBeGreaterThan(scores.get(1) ?? 0);
  });

  test('a term that is asked twice counts twice', () => {
    const once = bm25(table, ['coffee'], all).get(2) ?? 0;
    expect(bm25(table, ['coffee', 'coffee'], all).get(2)).toBeCloseTo(2 * once, 12);
  });

  test('documents out of sight have no score and move none', () => {
    const alone = bm25(keywordTable([['tea', 'green'], ['coffee']]), ['tea'], all);
    const partly = bm25(table, ['tea'], (document) => document === 0 || document === 2);
    expect([...partly]).toEqual([...alone]);
  });

  test('a term that every document has still counts', () => {
    expect(bm25(keywordTable([['tea'], ['tea']]), ['tea'], all).get(1)).toBeGreaterThan(0);
  });

  test('no documents, no terms and unknown terms give no scores', () => {
    expect(bm25(keywordTable([]), ['tea'], all).size).toBe(0);
    expect(bm25(table, [], all).size).toBe(0);
    expect(bm25(table, ['constructor', '__proto__'], all).size).toBe(0);
  });
});

const vector = (...numbers: number[]): Float32Array => Float32Array.from(numbers);

describe('vectors', () => {
  test('cosine does not depend on length', () => {
    expect(cosine(vector(3, 0), vector(5, 0))).toBe(1);
    expect(cosine(vector(3, 0), vector(0, 2))).toBe(0);
    expect(cosine(vector(3, 0), vector(-1, 0))).toBe(-1);
  });

  test('a vector of zeros is near nothing', () => {
    expect(cosine(vector(0, 0), vector(1, 0))).toBe(0);
  });

  test('rounding never makes a cosine larger than 1', () => {
    const odd = vector(0.1, 0.2, 0.3, 0.7);
    expect(cosine(odd, odd)).toBeLessThanOrEqual(1);
  });

  test('a vector can be taken out of the middle of many', () => {
    expect(dot(vector(9, 9, 1, 2), vector(3, 4), 2)).toBe(11);
  });
});

describe('best', () => {
  test('it is the beginning of the sorted list, equal scores by position', async () => {
    await check(
      property(array(integer({ min: 0, max: 5 })), integer({ min: 0, max: 8 }), (numbers, limit) => {
        const scores = numbers.map((score, i): Scored => [i, score]);
        const sorted = [...scores].sort((a, b) => b[1] - a[1] || a[0] - b[0]);
        expect(best(scores, limit)).toEqual(sorted.slice(0, limit));
        expect(best([...scores].reverse(), limit)).toEqual(sorted.slice(0, limit));
      }),
    );
  });
});
