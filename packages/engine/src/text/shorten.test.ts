import { describe, expect, it } from 'vitest';
import { estimateTokens, shorten } from './tokens.ts';

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
