import { describe, expect, it } from 'vitest';
import { fold, sameFolded } from './filter.ts';

/** Beyond are no letters. */
const LAST = 0x1ffff;
const everyChar = function* (): Generator<string> {
  for (let code = 0; code <= LAST; code += 1) yield String.fromCodePoint(code);
};

describe('a text folded', () => {
  it('is the same for what differs in case alone', () => {
    expect(fold('STRASSE ÀÉ ΣΊΣΥΦΟΣ Привет ＡＢＣ 𐐀')).toBe(fold('strasse àé σίσυφος пРИВЕТ ａｂｃ 𐐨'));
  });

  it('keeps its length, so that what would become two characters stays as it is', () => {
    expect(fold('ß İ ŉ ﬁ')).toBe('ß İ ŉ ﬁ');
  });

  it('treats every character like its capital and its small letter', () => {
    const wrong = [...everyChar()].filter((char) => {
      const forms = [char.toUpperCase(), char.toLowerCase()].filter((form) => [...form].length === 1);
      return forms.some((form) => fold(form) !== fold(char)) || fold(fold(char)) !== fold(char);
    });
    expect(wrong).toEqual([]);
  });

  it('knows all characters that become one', () => {
    expect(sameFolded('s')).toEqual(['s', 'S', 'ſ']);
    expect(sameFolded('茶')).toEqual(['茶']);
  });
});
