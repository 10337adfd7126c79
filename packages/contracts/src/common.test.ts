import { expect, test } from 'vitest';
import { ExternalId, Filters, Metadata, Moment } from './common.ts';

test.each(['ann', 'a b', ' ann', '李雷', '👩‍💻', 'user:7/x', '...', '.a', 'a..'])('%j is an id', (id) => {
  expect(ExternalId.safeParse(id).success).toBe(true);
});

test.each(['', '  ', '\t', 'a\u0000b', '\u0000', 'a\n', '\ud800', 'a\udc00b', 'a'.repeat(257), '.', '..'])(
  '%j is not an id',
  (id) => {
    expect(ExternalId.safeParse(id).success).toBe(false);
  },
);

test('a very long id with a control character at its end is refused without trying every split', () => {
  expect(ExternalId.safeParse(`${'a'.repeat(500_000)}\u0000`).success).toBe(false);
});

const METADATA_MAX = 16_000;
const told = (metadata: unknown): string | undefined => Metadata.safeParse(metadata).error?.issues[0]?.message;

test('metadata is as long as it is as JSON, escapes included', () => {
  expect(told({ k: '"'.repeat((METADATA_MAX - '{"k":""}'.length) / 2) })).toBeUndefined();
  expect(told({ k: `a${'"'.repeat((METADATA_MAX - '{"k":""}'.length) / 2)}` })).toBe(
    'expected at most 16000 characters of JSON, got 16001',
  );
});

test.each([
  ['fields', Object.fromEntries(Array.from({ length: 100_000 }, (_, i) => ['k'.repeat(200) + i, i]))],
  ['items', { list: Array.from({ length: 100_000 }, () => 1) }],
  ['text', { text: 'a'.repeat(1_000_000) }],
])('metadata of too many %s is refused as a whole, and none of it is looked at', (_of, metadata) => {
  const { error } = Metadata.safeParse(metadata);
  const { length } = JSON.stringify(metadata);
  expect(error?.issues.map(({ message }) => message)).toEqual([
    `expected at most 16000 characters of JSON, got ${Object.keys(metadata).length > 1 ? 'more' : length}`,
  ]);
});

test.each(['{"n":1e400}', '{"a":[{"b":-1e400}]}'])(
  'a number that is too large for JSON is no metadata: %s',
  (metadata) => {
    expect(told(JSON.parse(metadata))).toBe('expected numbers below 1.8e308, got a larger one');
    expect(told(JSON.parse(metadata.replace('400', '300')))).toBeUndefined();
  },
);

test.each([[null], ['text'], [[1]], [undefined]])('%j is no metadata', (given) => {
  expect(told(given)).toContain('expected record');
});

const about = (filter: unknown): readonly string[] =>
  Filters.safeParse(filter).error?.issues.map(({ message }) => message) ?? [];

test('a filter of too many parts is refused before its length is measured, wherever they are', () => {
  const lists = Array.from({ length: 100 }, () => Array.from({ length: 50 }, () => 1));
  for (const filter of [{ AND: Array.from({ length: 5_000 }, () => 1) }, { AND: lists }, { a: { in: lists } }]) {
    expect(about(filter)).toEqual(['expected at most 5000 nested fields and items, got more']);
  }
  const never = { toJSON: () => expect.unreachable('it was written as JSON') };
  expect(about({ AND: [...lists.flat(), never] })).toHaveLength(1);
});

test('a filter has as many parts as it may have, and is measured then', () => {
  expect(about({ AND: Array.from({ length: 4_999 }, () => 1) })).toEqual([]);
  expect(about({ AND: ['a'.repeat(130_000)] })).toEqual(['expected at most 130000 characters of JSON, got 130012']);
  for (const none of [null, [], 'text']) expect(about(none)).not.toEqual([]);
});

test('of an id that is too long nothing else is told', () => {
  const told = (id: string): number | undefined => ExternalId.safeParse(id).error?.issues.length;
  expect([told('\u0000'.repeat(257)), told(' '.repeat(300)), told('\u0000')]).toEqual([1, 1, 1]);
});

test('a time has a fraction of a second as long as it likes within 64 characters, and nothing is read of a longer one', () => {
  const time = (length: number): string => `2026-03-01T09:30:00.${'1'.repeat(length - 21)}Z`;
  expect(Moment.safeParse(time(64)).success).toBe(true);
  for (const wrong of [time(65), 'soon'.repeat(20)]) {
    expect(Moment.safeParse(wrong).error?.issues.map(({ code }) => code)).toEqual(['too_big']);
  }
  expect(Moment.safeParse('soon').error?.issues.map(({ code }) => code)).toEqual(['invalid_format']);
});
