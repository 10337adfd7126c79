import { EngineError } from '@slowwave/engine';
import { expect, test } from 'vitest';
import { laidOpen, packed, unpacked } from './packed.ts';

const PLAN = '{"consolidationId":"con_01","round":1,"facts":[],"discards":[],"candidates":[],"operations":[]}';

test('a text comes back as it was, whatever is in it', () => {
  for (const text of ['', 'a', '{}', PLAN, 'Zoë \u{1f600} \0 猫', 'half \ud83d a pair', 'x'.repeat(100_000)]) {
    expect(unpacked(packed(text))).toBe(text);
    expect(unpacked(laidOpen(text))).toBe(text);
  }
});

test('what texts have in common takes next to nothing', () => {
  expect(packed(PLAN).length).toBeLessThan(PLAN.length / 4);
});

test('a text that would only grow takes one byte more', () => {
  expect([...packed('¶')]).toEqual([0, ...Buffer.from('¶')]);
});

test('what was packed by the first release can be read for ever', () => {
  // It refers to the beginning and to the end of the dictionary.
  const stored = Buffer.from('AVPCOeilkJiXokBiUy8WAA==', 'base64');
  expect(unpacked(stored)).toBe('","seen":["","nextAt":null and {"consolidationId":"con_01","round":1,"facts":[]');
});

test('a form that a newer release has written is refused by name', () => {
  expect(() => unpacked(Buffer.of(9, 1, 2))).toThrow(EngineError);
  expect(() => unpacked(Buffer.of(9, 1, 2))).toThrow('expected a packed text of form 0 to 2, got 9');
  expect(() => unpacked(Buffer.of())).toThrow('got no bytes');
});
