import fc from 'fast-check';
import { expect, test } from 'vitest';
import { readLoose, readSound } from './json.ts';

const shown = ({ value, ...rest }: { readonly value: unknown }): string => JSON.stringify([value, rest]);
const pieces = fc.constantFrom('{', '}', '[', ']', ',', ':', '"', "'", '\\', '1', 'a', '"a"', '"1"', '{"facts":[', ' ');

test('what is read fast is what is read by hand, wherever it breaks off', () => {
  fc.assert(
    fc.property(fc.json({ maxDepth: 5 }), fc.nat(), fc.string(), (json, cut, behind) => {
      for (const text of [
        `{"facts":[${json},${json}`,
        `{"1":2,"a":${json}`,
        `[${json}]${behind}`,
        `{"a":{"b":${json},`,
        `{"facts":[{"a":${json}},{"b":${json}},`,
        `["a",${json},"b","c`,
        `{"__proto__":[{"constructor":${json}},{"\\u005f_proto__":1},[{"a":`,
      ]) {
        for (const source of [text, text.slice(0, 1 + (cut % text.length))]) {
          const fast = readSound(source, 0);
          if (fast !== null) expect(shown(fast)).toBe(shown(readLoose(source, 0)));
        }
      }
    }),
    { numRuns: 500 },
  );
});

test('the same where nearly nothing is JSON', () => {
  fc.assert(
    fc.property(fc.constantFrom('{', '['), fc.array(pieces, { maxLength: 30 }), (first, rest) => {
      const source = first + rest.join('');
      const fast = readSound(source, 0);
      if (fast !== null) expect(shown(fast)).toBe(shown(readLoose(source, 0)));
    }),
    { numRuns: 5_000 },
  );
});

test('a long list that breaks off is read fast, but for its last item', () => {
  const source = `{"facts":[${'{"text":"Ann likes tea"},'.repeat(10_000)}{"text":"Ann li`;
  const { value, complete } = readSound(source, 0) ?? {};
  expect(complete).toBe(false);
  expect((value as { facts: unknown[] }).facts).toHaveLength(10_000);
});

test('a number that JSON cannot say is left to the reader by hand', () => {
  expect(readSound('{"a":1e999', 0)).toBeNull();
});
