import { anyCharacter } from '@slowwave/engine-testing';
import { array, assert as check, constantFrom, property, string } from 'fast-check';
import { describe, expect, test } from 'vitest';
import { canonical, cleanText, normaliseText, Wording } from './normalise.ts';

const anyText = string({ unit: anyCharacter, maxLength: 40 });

describe('what texts are compared by', () => {
  const pieces = [
    'a',
    'Bo',
    ' ',
    '  ',
    '\n',
    '.',
    '…',
    'Ｅ',
    'é',
    'e\u0301',
    'ﬁ',
    '한',
    '\u1112\u1161\u11ab',
    'Σ',
    '我',
    '👍🏽',
    '\u200b',
  ];
  const anyLength = array(constantFrom(...pieces, 'User lives in Oslo, ', 'ω'.repeat(30)), { maxLength: 30 }).map(
    (parts) => parts.join(''),
  );
  const respellings = [
    (text: string) => text.normalize('NFD'),
    (text: string) => ` ${text.toUpperCase()}…. `,
    (text: string) => text.replaceAll(' ', ' \t '),
    (text: string) => `\ufeff${text}`,
  ];

  test('begins alike wherever it is the same as a whole', async () => {
    await check(
      property(anyLength, constantFrom(...respellings), (text, respelt) => {
        const [one, other] = [new Wording(text), new Wording(respelt(text))];
        expect(one.whole).toBe(normaliseText(text));
        expect(one.whole.startsWith(one.begin)).toBe(true);
        if (one.whole === other.whole) expect(other.begin).toBe(one.begin);
      }),
      { numRuns: 3_000 },
    );
  });

  test('of long texts it is not the whole that is compared first', () => {
    const long = 'User lives in Oslo and likes tea. '.repeat(100);
    expect(new Wording(long).begin).toBe('user lives in oslo and likes tea. user lives in ');
    expect(new Wording('Tea!').begin).toBe('tea');
  });
});

describe('normaliseText', () => {
  test.each([
    ['I live in Berlin.', 'i live in berlin'],
    ['  I  live\n in Berlin!! ', 'i live in berlin'],
    ['Ｉ ｌｉｖｅ ｉｎ Berlin', 'i live in berlin'],
    ['我住在北京。', '我住在北京'],
    ['He knows C++', 'he knows c++'],
    ['\ufeffTea\u200b', 'tea'],
    ['', ''],
  ])('%j is compared as %j', (text, compared) => {
    expect(normaliseText(text)).toBe(compared);
  });

  test('a text of punctuation alone is compared as it is', () => {
    expect(normaliseText('?!')).toBe('?!');
  });

  test('normalising twice changes nothing more', async () => {
    await check(
      property(anyText, (text) => {
        expect(normaliseText(normaliseText(text))).toBe(normaliseText(text));
      }),
    );
  });
});

describe('cleanText', () => {
  test('half characters become the replacement character', () => {
    expect(cleanText('a\ud83db')).toBe('a\ufffdb');
  });

  test('control characters go, line breaks and tabs stay', () => {
    expect(cleanText('a\u0000b\tc\nd\u001b[1me\u0085f')).toBe('ab\tc\nd[1me\nf');
  });

  test('line breaks of all systems become one kind', () => {
    expect(cleanText('a\r\nb\rc')).toBe('a\nb\nc');
  });

  test('zero-width characters that hide differences go', () => {
    expect(cleanText('\ufeffpass\u200bwo\u200drd\u2060')).toBe('password');
  });

  test('joiners that are spelling stay', () => {
    for (const text of ['👨‍👩‍👧', '🏳️‍🌈', 'می‌خواهم', 'क्‍ष']) expect(cleanText(text)).toBe(text);
  });

  test('every text comes out well-formed', async () => {
    await check(
      property(anyText, (text) => {
        expect(cleanText(`${text}\udc00`).isWellFormed()).toBe(true);
      }),
    );
  });
});

test('equal values in any order of keys give equal texts', () => {
  expect(canonical({ b: [{ d: 1, c: null }], a: 'x' })).toBe(canonical({ a: 'x', b: [{ c: null, d: 1 }] }));
});

test.each([
  [{ a: 1 }, { a: '1' }],
  [{ a: [1, 2] }, { a: [2, 1] }],
  [{ a: {} }, { a: [] }],
  [{ a: null }, {}],
])('%j and %j give different texts', (one, other) => {
  expect(canonical(one)).not.toBe(canonical(other));
});
