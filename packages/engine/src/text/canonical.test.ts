import { expect, test } from 'vitest';
import { canonical } from './normalise.ts';

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
