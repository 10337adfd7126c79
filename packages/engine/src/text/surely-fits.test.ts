import { expect, test } from 'vitest';
import { surelyFits } from './tokens.ts';

const bytes = (text: string): number => new TextEncoder().encode(text).length;

test('what surely fits has no more bytes than there is room for tokens', () => {
  for (const text of ['tea', '北京の空', 'é', '👩‍👩‍👧', '\ud800', '']) {
    expect(surelyFits([text], { tokens: bytes(text) - 1, around: 0 })).toBe(false);
    expect(surelyFits([text, text], { tokens: text.length * 6 + 2, around: 1 })).toBe(true);
    expect(surelyFits([text, text], { tokens: text.length * 6 + 1, around: 1 })).toBe(false);
  }
});
