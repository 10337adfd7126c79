import { describe, expect, test } from 'vitest';
import { bm25, keywordTable } from './scoring.ts';

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
