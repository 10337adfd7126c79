import { expect, test } from 'vitest';
import { namingsIn } from './naming.ts';

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
