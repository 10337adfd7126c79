import fc from 'fast-check';
import { expect, test } from 'vitest';
import { aroundLongWords, LONG } from './secrets.ts';

const BEFORE = 5;
const texts = fc
  .array(
    fc.oneof(
      fc.constantFrom(...'aZ9_.+/=~-\u017f\u212a é字😀"\n'),
      fc.nat(2 * LONG).map((n) => 'x'.repeat(n)),
    ),
    {
      maxLength: 40,
    },
  )
  .map((parts) => parts.join(''));

test('every long word is in one part, with what stands around it, and each part has one', () => {
  fc.assert(
    fc.property(texts, (text) => {
      const words = [...text.matchAll(/[\w.+/=~\u017f\u212a-]{16,}/gu)];
      const parts = aroundLongWords(text, BEFORE);
      const holds = words.map(({ index, 0: word }) =>
        parts.filter(({ start, end }) => start <= Math.max(0, index - BEFORE) && end > index + word.length),
      );
      expect(holds.map(({ length }) => length)).toEqual(words.map(() => 1));
      expect(new Set(holds.flat()).size).toBe(parts.length);
    }),
    { numRuns: 2_000 },
  );
});

test('words one after the other share one part, and are read once', () => {
  expect(aroundLongWords(`${'x'.repeat(LONG)} `.repeat(100), BEFORE)).toEqual([{ start: 0, end: 100 * (LONG + 1) }]);
});

test('a text of short words has none', () => {
  expect(aroundLongWords('Ana moved to Oslo on 2024-03-09, see https. '.repeat(100), BEFORE)).toEqual([]);
});
