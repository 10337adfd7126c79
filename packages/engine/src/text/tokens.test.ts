import { describe, expect, it, test } from 'vitest';
import { estimateTokens, shorten, surelyFits } from './normalise.ts';

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

describe('a text that is too long', () => {
  it.each([
    ['English', 'All work and no play makes Jack a dull boy. '.repeat(100)],
    ['Chinese', '今天天气很好，我们去公园散步吧。'.repeat(100)],
    ['mixed', 'tea 茶 '.repeat(400)],
    ['one unbroken run', 'a'.repeat(100_000)],
  ])('keeps as much of its beginning as there is room for, in %s', (_name, text) => {
    const short = shorten(text, 50);
    expect(text.startsWith(short.slice(0, -1))).toBe(true);
    expect(short.endsWith('…')).toBe(true);
    expect(estimateTokens(short)).toBeLessThanOrEqual(50);
    expect(estimateTokens(short)).toBeGreaterThanOrEqual(48);
  });

  it('is not cut through the middle of a character', () => {
    for (let room = 1; room < 12; room += 1) expect(shorten('👍'.repeat(20), room).isWellFormed()).toBe(true);
  });
});

describe('a text that is short enough', () => {
  it.each([
    ['', 1],
    ['Hello', 10],
    ['今天', 2],
  ])('%j stays as it is', (text, room) => {
    expect(shorten(text, room)).toBe(text);
  });
});

const bytes = (text: string): number => new TextEncoder().encode(text).length;

test('what surely fits has no more bytes than there is room for tokens', () => {
  for (const text of ['tea', '北京の空', 'é', '👩‍👩‍👧', '\ud800', '']) {
    expect(surelyFits([text], { tokens: bytes(text) - 1, around: 0 })).toBe(false);
    expect(surelyFits([text, text], { tokens: text.length * 6 + 2, around: 1 })).toBe(true);
    expect(surelyFits([text, text], { tokens: text.length * 6 + 1, around: 1 })).toBe(false);
  }
});
