import { describe, expect, it } from 'vitest';
import { decodeJson, decodeText, encodeJson, encodeText } from './asking.ts';

const PARTS = ['', '\0', '\u001a', '\ud83d', '\udc4d', '\\', '\\u0000', '\\u001a', '0000', 'd83d', '"', '👍', '北'];
/** Every text of four parts, each of which is hard on its own or next to another. */
const HARD = PARTS.flatMap((a) => PARTS.flatMap((b) => PARTS.flatMap((c) => PARTS.map((d) => a + b + c + d))));

describe('text on its way to the database', () => {
  it('comes back as it was', () => {
    expect(HARD.filter((text) => decodeText(encodeText(text)) !== text)).toEqual([]);
  });

  it('holds nothing that the database refuses', () => {
    const refused = HARD.map(encodeText).filter((stored) => stored.includes('\0') || !stored.isWellFormed());
    expect(refused).toEqual([]);
  });

  it('stays different from other texts', () => {
    expect(new Set(HARD.map(encodeText)).size).toBe(new Set(HARD).size);
  });

  it('is left alone when it is ordinary', () => {
    for (const text of ['', 'I live in Berlin.', '北京 👍 \n\t "quoted" \\u0000']) expect(encodeText(text)).toBe(text);
  });
});

describe('JSON on its way to the database', () => {
  it('comes back as it was, in keys and values', () => {
    const changed = HARD.filter((text) => {
      const value = { [`key ${text}`]: [text] };
      return JSON.stringify(JSON.parse(decodeJson(encodeJson(JSON.stringify(value))))) !== JSON.stringify(value);
    });
    expect(changed).toEqual([]);
  });

  it('says what the text would say', () => {
    expect(HARD.filter((text) => JSON.parse(encodeJson(JSON.stringify(text))) !== encodeText(text))).toEqual([]);
  });
});
