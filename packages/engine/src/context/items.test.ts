import { estimatingTokenizer } from '@slowwave/engine-testing';
import { expect, test } from 'vitest';
import { cutAtWord, prepared, saySame } from './items.ts';

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

const same = (a: string, b: string) => saySame(prepared(a), prepared(b));

test.each([
  ['User lives in Oslo', 'user lives in  Oslo.'],
  ['User likes the green tea from Japan', 'User likes green tea from Japan'],
  ['User works as a software engineer at Acme in Oslo', 'User works as software engineer at Acme in Oslo'],
  ['小明住在上海', '小明住在上海。'],
])('"%s" and "%s" tell the same', (a, b) => {
  expect(same(a, b)).toBe(true);
  expect(same(b, a)).toBe(true);
});

test.each([
  ['User eats meat', 'User does not eat meat'],
  ['User eats meat', 'User no longer eats meat'],
  ['小明吃辣', '小明不吃辣'],
  ['Ann loves Bob', 'Bob loves Ann'],
  ['User flies from Oslo to Lisbon on 3 May at 10:40', 'User flies from Oslo to Lisbon on 3 May at 10:50'],
  ['User lives in Oslo', 'User lives in Rome'],
  ['小明住在上海', '小明住在北京'],
  ['??', '!!'],
])('"%s" and "%s" are two facts', (a, b) => {
  expect(same(a, b)).toBe(false);
  expect(same(b, a)).toBe(false);
});
