import { bm25, keywordTable } from '@slowwave/engine';
import { describe, expect, test } from 'vitest';
import { dimensionOf, documentWeights, questionWeights } from './points.ts';

describe('terms as sparse vectors', () => {
  test('every term is one dimension of 32 bits, however often it is there', () => {
    const vector = documentWeights(['tea', 'green', 'tea', '北京']);
    expect(vector?.indices).toEqual(['tea', 'green', '北京'].map(dimensionOf));
    expect(vector?.indices.every((index) => index >= 0 && index < 2 ** 32)).toBe(true);
  });

  test('a text or a question without terms is no vector', () => {
    expect(documentWeights([])).toBeNull();
    expect(questionWeights([])).toBeNull();
  });

  test('a question weighs a term as often as it is asked', () => {
    expect(questionWeights(['tea', 'cup', 'tea'])?.values).toEqual([2, 1]);
  });

  test('with the rarity of its terms, the product with a question is BM25 where texts have the usual length', () => {
    const usual = [...'tttgggabcd']; // ten terms, of which two are asked for three times each
    const other = [...'txyzuvwopq'];
    const expected = bm25(keywordTable([usual, other]), ['t', 'g'], () => true).get(0) ?? 0;
    const rarity = (withTerm: number): number => Math.log(1 + (2 - withTerm + 0.5) / (withTerm + 0.5));
    const vector = documentWeights(usual);
    const weight = (term: string): number => vector?.values[vector.indices.indexOf(dimensionOf(term))] ?? 0;
    expect(weight('t') * rarity(2) + weight('g') * rarity(1)).toBeCloseTo(expected, 10);
  });
});
