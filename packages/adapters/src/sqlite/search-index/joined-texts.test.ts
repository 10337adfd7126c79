import { expect, test } from 'vitest';
import { JoinedTexts } from './many-filtered.ts';

const WORDS = ['tea', 'te', 'a', 'ea t', '北京', '🍵', '\0', 'teatea', ''];
const textOf = (document: number): string =>
  [3, 5, 7, 11].map((factor) => WORDS[(document * factor) % WORDS.length]).join(document % 2 === 0 ? ' ' : '');
const PARTS = [...WORDS, 'a te', 'tea\0', '\ud83c', 'no such part'];

test('a part is found in the documents that have it, however many are looked through and have come since', () => {
  const texts = new JoinedTexts(textOf);
  for (const [from, to] of [
    [0, 100],
    [0, 1_024],
    [1_000, 2_500],
    [2_500, 2_510],
    [0, 2_600],
    [0, 700],
  ] as const) {
    for (const part of PARTS) {
      const marks = new Uint8Array(to);
      texts.mark(part, marks, { from, to });
      const having = Array.from({ length: to - from }, (_, i) => (textOf(from + i).includes(part) ? 1 : 0));
      expect([...marks.subarray(from)], `${from}, ${to}, ${part}`).toEqual(having);
    }
  }
});

test('what is looked through at once is counted, and replaced when there is more of it', () => {
  const texts = new JoinedTexts(() => 'x'.repeat(100));
  const look = (to: number): number => {
    texts.mark('x', new Uint8Array(to), { from: 0, to });
    return texts.bytes;
  };
  expect(look(10)).toBe(0);
  const some = look(500);
  expect(some).toBeGreaterThan(500 * 100);
  expect(look(1_000)).toBeLessThan(some * 2.1);
});
