import { describe, expect, test } from 'vitest';
import { estimateTokens } from './tokens.ts';

describe('estimateTokens', () => {
  test.each([
    ['', 0],
    ['a', 1],
    ['I live in Berlin and work as a nurse.', 10],
    ['我住在北京', 5],
    ['Привет мир', 5],
    ['👍', 2],
    ['“hi” – ok', 3],
  ])('%j counts about %i', (text, tokens) => {
    expect(estimateTokens(text)).toBe(tokens);
  });

  test('a text of a million characters is counted like any other', () => {
    expect(estimateTokens('哈'.repeat(1_000_000))).toBe(1_000_000);
  });
});
