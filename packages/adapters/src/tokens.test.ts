import { DECIDE, DECIDE_GRAPH, EXTRACT, EXTRACT_GRAPH } from '@slowwave/engine';
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

/** Of OpenAI and Gemini: a prompt that begins like an earlier one in so many tokens costs a fraction. */
const CACHED_FROM = 1_024;
/** Of the two prompts of a consolidation, or of a study, together. */
const BOTH_MAX = 3_000;

test.each([
  ['a consolidation', [EXTRACT, DECIDE]],
  ['a study', [EXTRACT_GRAPH, DECIDE_GRAPH]],
])('the prompts of %s are long enough for the caches of providers, and short enough together', (_what, prompts) => {
  const tokens = prompts.map(({ system }) => o200kTokenizer.count(system));
  expect(Math.min(...tokens)).toBeGreaterThanOrEqual(CACHED_FROM);
  expect(tokens.reduce((sum, one) => sum + one)).toBeLessThanOrEqual(BOTH_MAX);
});
