import { expect, it, test } from 'vitest';
import { standsIn, wordsIn } from './claims.ts';
import { namingsIn, wordsInPieces } from './support.ts';

/** What a long text says, and after how many rests. */
function pieceByPiece(text: string) {
  const work = wordsInPieces(text);
  for (let rests = 0; ; rests += 1) {
    const step = work.next();
    if (step.done === true) return { words: step.value, rests };
  }
}

it.each([
  ['words of which none is said twice', Array.from({ length: 40_000 }, (_, i) => `wo${i.toString(36)}rd`).join(' ')],
  [
    'sentences with names, numbers and dates',
    Array.from({ length: 4_000 }, (_, i) => `On March ${(i % 28) + 1}, Ann${i} bought twenty two books.`).join(' '),
  ],
  [
    'Chinese without a space',
    Array.from({ length: 30_000 }, (_, i) => String.fromCodePoint(0x4e00 + (i % 9_000))).join(''),
  ],
  ['one word without an end', 'x'.repeat(50_000)],
  ['values without a space', Array.from({ length: 9_000 }, (_, i) => `v${i}`).join(',')],
])('a long text of %s is taken apart in small pieces', (_name, text) => {
  const { words, rests } = pieceByPiece(text);
  expect(rests).toBeGreaterThanOrEqual(text.length / 4_000 - 1);
  expect(words.plain).toBe(wordsIn(text).plain);
});

it('what is taken apart in pieces says what it says as a whole', () => {
  const text = Array.from(
    { length: 4_000 },
    (_, i) => `On March ${(i % 28) + 1}, Ann${i} bought twenty two books.`,
  ).join(' ');
  const { words } = pieceByPiece(text);
  expect(words).toEqual(wordsIn(text));
  expect(standsIn('Ann1999 bought twenty two books. On March 13, Ann2000', words)).toBe(true);
});

it('a short text is taken apart at once', () => {
  expect(pieceByPiece('I live in Oslo.')).toEqual({ words: wordsIn('I live in Oslo.'), rests: 0 });
});

const wordsOf = (text: string): number => namingsIn(text).flatMap(({ words }) => words).length;

test.each([
  ['one name', `User is named ${'Named '.repeat(400)}`],
  ['many names', `User has friends ${Array.from({ length: 200 }, (_, i) => `called Bo${i} Li${i}`).join(', ')}`],
])('a text of %s has few words that are looked for in all that was said', (_what, text) => {
  expect(wordsOf(text)).toBeGreaterThan(5);
  expect(wordsOf(text)).toBeLessThan(200);
});

test('a name of several words is read to its end, with each name of a text', () => {
  const text = "User's name is Pablo Diego José de la Santísima Ruiz y Picasso, and his cat is called Mimi";
  expect(namingsIn(text)).toEqual([
    { isUser: true, words: ['Pablo', 'Diego', 'Jose', 'Santisima', 'Ruiz', 'Picasso'] },
    { isUser: false, words: ['Mimi'] },
  ]);
});
