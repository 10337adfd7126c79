import { describe, expect, it } from 'vitest';
import { FilterError } from './filter.ts';
import { readFilter } from './read.ts';

const DAY = 86_400_000;
const MARCH_1 = Date.parse('2026-03-01T00:00:00Z');

function mistakeIn(json: unknown): FilterError {
  try {
    readFilter(json);
  } catch (error) {
    if (error instanceof FilterError) return error;
    throw error;
  }
  throw new Error(`expected a mistake in ${JSON.stringify(json)}`);
}

const nested = (depth: number): unknown => (depth === 0 ? { app_id: 'x' } : { NOT: [nested(depth - 1)] });

describe('a filter', () => {
  it('may be written in several ways that mean one thing', () => {
    const one = readFilter({ user_id: 'ann' });
    expect(readFilter({ AND: [{ user_id: { eq: 'ann' } }] })).toEqual({ kind: 'all', of: [one] });
    expect(readFilter({ user_id: ['ann'] })).toEqual(one);
    expect(readFilter({ memory_id: 'm' })).toEqual(readFilter({ id: 'm' }));
    expect(readFilter({ 'metadata.a.b': 1 })).toEqual(readFilter({ metadata: { a: { b: { eq: 1 } } } }));
    expect(readFilter({ NOT: { user_id: 'ann' } })).toEqual({ kind: 'not', of: one });
    expect(readFilter({ user_id: { ne: 'ann' } })).toEqual({ kind: 'not', of: one });
  });

  it('takes what stands side by side as true together', () => {
    const [one, two] = [readFilter({ user_id: 'ann' }), readFilter({ app_id: 'web' })];
    expect(readFilter({ user_id: 'ann', app_id: 'web' })).toEqual({ kind: 'all', of: [one, two] });
    expect(readFilter({})).toEqual({ kind: 'all', of: [] });
  });

  it('takes a day as long as it is', () => {
    const bounds = (operator: string) => readFilter({ created_at: { [operator]: '2026-03-01' } });
    const compared = (by: string, to: number) => ({
      kind: 'condition',
      field: { name: 'createdAt' },
      test: { kind: 'compares', by, to },
    });
    expect(bounds('gt')).toEqual(compared('gte', MARCH_1 + DAY));
    expect(bounds('gte')).toEqual(compared('gte', MARCH_1));
    expect(bounds('lt')).toEqual(compared('lt', MARCH_1));
    expect(bounds('lte')).toEqual(compared('lt', MARCH_1 + DAY));
    expect(readFilter({ created_at: { lte: '2026-03-01T01:00:00+01:00' } })).toEqual(compared('lt', MARCH_1 + 1));
  });

  it('keeps a key of metadata with dots when it stands by itself', () => {
    expect(readFilter({ metadata: { 'a.b': 1 } })).toMatchObject({ field: { name: 'metadata', keys: ['a.b'] } });
    expect(readFilter({ 'metadata.eq': 1 })).toMatchObject({ field: { name: 'metadata', keys: ['eq'] } });
  });
});

describe('a mistake in a filter', () => {
  it.each<[unknown, ...[string, string, string]]>([
    ['x', 'filters', 'an object', '"x"'],
    [[], 'filters', 'an object', 'a list of 0'],
    [{ AND: { user_id: 'x' } }, 'filters.AND', 'a list of filters', 'an object with user_id'],
    [{ AND: [{}, { OR: [null] }] }, 'filters.AND[1].OR[0]', 'an object', 'null'],
    [{ NOT: 'x' }, 'filters.NOT', 'a list of filters', '"x"'],
    [{ OR: [{ user: 'x' }] }, 'filters.OR[0].user', 'AND, OR, NOT or a field: user_id,', '"user"'],
    [{ $or: [] }, 'filters.$or', 'AND, OR, NOT or a field', '"$or"'],
    [{ __proto__: null, constructor: 'x' }, 'filters.constructor', 'AND, OR, NOT or a field', '"constructor"'],
    [JSON.parse('{"__proto__": "x"}'), 'filters.__proto__', 'AND, OR, NOT or a field', '"__proto__"'],
    [{ user_id: { '>': 'x' } }, 'filters.user_id', 'an operator of this field: eq, ne, in, nin', '">"'],
    [{ user_id: { gt: 'x' } }, 'filters.user_id', 'an operator of this field: eq, ne, in, nin', '"gt"'],
    [{ user_id: {} }, 'filters.user_id', 'a value, a list of values, or operators', 'an object with no keys'],
    [{ user_id: 7 }, 'filters.user_id', 'a text', '7'],
    [{ user_id: ['a', 7] }, 'filters.user_id[1]', 'a text', '7'],
    [{ user_id: { in: 'a' } }, 'filters.user_id.in', 'a list of values', '"a"'],
    [{ user_id: 'a\0b' }, 'filters.user_id', 'a string without control characters', '"a\\u0000b"'],
    [{ user_id: '\ud800' }, 'filters.user_id', 'a string without control characters', '"\\ud800"'],
    [{ created_at: { gt: 'soon' } }, 'filters.created_at.gt', 'a day like 2026-03-01', '"soon"'],
    [{ created_at: { gt: '2026-02-30' } }, 'filters.created_at.gt', 'a day like 2026-03-01', '"2026-02-30"'],
    [{ created_at: { gt: '2026' } }, 'filters.created_at.gt', 'a day like 2026-03-01', '"2026"'],
    [{ created_at: { gt: 5 } }, 'filters.created_at.gt', 'a day like 2026-03-01', '5'],
    [{ created_at: ['2026-03-01'] }, 'filters.created_at', 'an operator of this field: eq, ne, gt', 'a list of 1'],
    [{ memory: 'tea' }, 'filters.memory', 'an operator of this field: contains, icontains', '"tea"'],
    [{ memory: { contains: '' } }, 'filters.memory.contains', 'a string of at least one character', '""'],
    [{ immutable: 'yes' }, 'filters.immutable', 'true or false', '"yes"'],
    [{ confirmations: { gt: '1' } }, 'filters.confirmations.gt', 'a number', '"1"'],
    [{ confirmations: Infinity }, 'filters.confirmations', 'a number', 'Infinity'],
    [{ metadata: 'x' }, 'filters.metadata', 'an object of keys', '"x"'],
    [{ metadata: { a: { gt: 1, b: 2 } } }, 'filters.metadata.a', 'an operator of this field: eq,', '"b"'],
    [{ metadata: { a: { gt: true } } }, 'filters.metadata.a.gt', 'a number or a text', 'true'],
    [{ metadata: { a: { in: [{}] } } }, 'filters.metadata.a.in', 'a string, a number, true or false', 'an object'],
    [{ metadata: { '': 1 } }, 'filters.metadata.', 'a key of at least one character', '""'],
    [{ 'metadata.a..b': 1 }, 'filters.metadata.a..b', 'a key of at least one character', '""'],
  ])('%j is named by its place, what was expected and what was got', (json, ...[path, expected, got]) => {
    const { message, ...found } = mistakeIn(json);
    expect(found).toMatchObject({
      path,
      expected: expect.stringContaining(expected),
      got: expect.stringContaining(got),
    });
    expect(message).toBe(`${path}: expected ${found.expected}, got ${found.got}`);
  });

  it('is what is too deep, too much or too long', () => {
    expect(readFilter(nested(10))).toMatchObject({ kind: 'not' });
    expect(mistakeIn(nested(11)).expected).toBe('at most 10 levels of AND, OR and NOT');
    const many = (count: number) => ({ OR: Array.from({ length: count }, () => ({ app_id: 'x' })) });
    expect(readFilter(many(100))).toMatchObject({ kind: 'any' });
    expect(mistakeIn(many(101))).toMatchObject({ path: 'filters.OR[100].app_id', expected: 'at most 100 conditions' });
    const empty = (count: number) => ({
      AND: Array.from({ length: count }, (_, i) => (i % 2 === 0 ? {} : { OR: [] })),
    });
    expect(readFilter(empty(100))).toMatchObject({ kind: 'all' });
    expect(mistakeIn(empty(101)).expected).toBe('at most 100 conditions');
    const listed = (count: number) => ({ app_id: Array.from({ length: count }, (_, i) => `a${i}`) });
    expect(readFilter(listed(1_000))).toMatchObject({ kind: 'condition' });
    expect(mistakeIn(listed(1_001)).expected).toBe('at most 1000 values across all lists');
    expect(mistakeIn({ app_id: 'x'.repeat(1_001) }).expected).toBe('a string of at most 1000 characters');
    expect(mistakeIn({ [`metadata.${'a.'.repeat(10)}a`]: 1 }).expected).toBe('at most 10 nested keys');
  });
});
