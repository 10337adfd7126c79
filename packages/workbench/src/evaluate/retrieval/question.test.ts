import { describe, expect, test } from 'vitest';
import { auroc, measuresOf } from './question.ts';

describe('measuresOf', () => {
  test('a question counts by its first gold text, and by the share of all', () => {
    const measures = measuresOf([{ ranks: [2, null] }, { ranks: [6] }, { ranks: [null] }, { ranks: [1, 11] }]);
    expect(measures.any).toEqual({ 1: 0.25, 5: 0.5, 10: 0.75, 20: 0.75 });
    expect(measures.share).toEqual({ 1: 0.125, 5: 0.25, 10: 0.5, 20: 0.625 });
    expect(measures.mrr).toBeCloseTo((1 / 2 + 1 / 6 + 0 + 1) / 4, 12);
  });

  test('no questions give nothing, not a wrong number', () => {
    expect(measuresOf([])).toMatchObject({ questions: 0, mrr: 0 });
  });
});

describe('auroc', () => {
  test('it is the share of pairs in the right order, equal ones by half', () => {
    expect(auroc([3, 4], [1, 2])).toBe(1);
    expect(auroc([1, 2], [3, 4])).toBe(0);
    expect(auroc([1, 3], [2, 2])).toBe(0.5);
    expect(auroc([1, 1], [1])).toBe(0.5);
  });

  test('with one kind alone there is nothing to distinguish', () => {
    expect(auroc([1], [])).toBeNull();
  });
});
