import { array, assert as check, integer, property } from 'fast-check';
import { describe, expect, test } from 'vitest';
import { best, type Scored } from './scoring.ts';

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
