import { estimatingTokenizer } from '@slowwave/engine-testing';
import { expect, test } from 'vitest';
import { cutAtWord } from './items.ts';

const cut = (text: string, maxTokens: number) => cutAtWord(estimatingTokenizer, text, maxTokens);

test('what fits stays as it is', () => {
  expect(cut('Ann lives in Berlin', 5)).toBe('Ann lives in Berlin');
});

test('a long text ends after a whole word, within its tokens', () => {
  expect(cut('Ann lives in Berlin, near the river', 6)).toBe('Ann lives in Berlin…');
});

test.each([
  ['小明住在上海,喜欢吃辣的火锅', 8],
  ['👩‍👩‍👧 👩‍👩‍👧 👩‍👩‍👧 👩‍👩‍👧 and more words', 20],
  ['über straße naïve café résumé', 6],
])('no character is cut in two: %s', (text, maxTokens) => {
  for (let tokens = 1; tokens <= maxTokens; tokens += 1) {
    const part = cut(text, tokens);
    if (part === null) continue;
    expect(text.startsWith(part.replace(/…$/u, ''))).toBe(true);
    expect(part).toBe(part.toWellFormed());
    expect(part).not.toMatch(/\u200d…$/u);
    expect(estimatingTokenizer.count(part)).toBeLessThanOrEqual(tokens);
  }
});

test('where not even a word fits there is nothing', () => {
  expect(cut('Donaudampfschifffahrtsgesellschaft', 2)).toBeNull();
  expect(cut('x'.repeat(100_000), 50)).toBeNull();
  expect(cut('Ann lives in Berlin', 0)).toBeNull();
  expect(cut('Ann lives in Berlin', -3)).toBeNull();
});
