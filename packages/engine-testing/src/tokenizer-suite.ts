import type { Tokenizer } from '@slowwave/engine';
import { describe, expect, it } from 'vitest';

/** What every tokenizer promises. The huge texts are there to run into the time limit where counting is not linear. */
export function describeTokenizer(name: string, make: () => Tokenizer): void {
  describe(`tokenizer: ${name}`, () => {
    const tokenizer = make();

    it('finds nothing in an empty text', () => {
      expect(tokenizer.count('')).toBe(0);
    });

    it.each([
      ['English', 'I moved to Oslo last week and work as a nurse.', 8, 24],
      ['Chinese', '我上周搬到了奥斯陆，现在是一名护士。', 8, 24],
      ['text that looks like a special token', 'a <|endoftext|> b <|im_start|>', 4, 40],
      ['half a character', 'a \ud83d b', 2, 12],
    ] as const)('counts %s', (...[, text, least, most]) => {
      expect(tokenizer.count(text)).toBeGreaterThanOrEqual(least);
      expect(tokenizer.count(text)).toBeLessThanOrEqual(most);
    });

    it('counts about twice as many in twice the text', () => {
      const text = 'The quick brown fox jumps over the lazy dog. '.repeat(50);
      const once = tokenizer.count(text);
      expect(Math.abs(tokenizer.count(text + text) - 2 * once)).toBeLessThanOrEqual(2);
    });

    it.each([
      ['one Chinese character', '哈'],
      ['one letter', 'a'],
      ['one dot', '.'],
      ['line breaks and slashes', '/\n'],
      ['spaces', ' '],
      ['an accent', '\u0301'],
      ['an emoji', '😀'],
    ])('comes to an end on 80,000 times %s', (_what, unit) => {
      expect(tokenizer.count(unit.repeat(80_000))).toBeGreaterThan(100);
    });
  });
}
