import { describeTokenizer } from '@slowwave/engine-testing';
import { expect, test } from 'vitest';
import { o200kTokenizer } from './tokens.ts';

describeTokenizer('o200k', () => o200kTokenizer);

test.each([
  ['hello world', 2],
  ['User lives in Oslo', 4],
  ['我喜欢吃辣的', 5],
])('%s has as many tokens as the model counts', (text, tokens) => {
  expect(o200kTokenizer.count(text)).toBe(tokens);
});
