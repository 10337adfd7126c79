import type { Json } from '@slowwave/engine';
import { expect, test } from 'vitest';
import { ValueColumn } from './many-filtered.ts';

test('each has the value that it had, which is kept once where it is no list and no object', () => {
  const given: readonly Json[] = [1, '1', true, null, 'a', 1, 'a', null, [1], [1], { a: 1 }, false, 0, ''];
  const asked: number[] = [];
  const column = new ValueColumn();
  const valuesOf = (count: number): Json[] => {
    const numbers = column.numbersNow(count, (one) => {
      asked.push(one);
      return given[one] ?? null;
    });
    return Array.from({ length: count }, (_, i) => column.values[numbers[i] as number] ?? null);
  };
  expect(valuesOf(5)).toEqual(given.slice(0, 5));
  expect(valuesOf(given.length)).toEqual(given);
  expect(asked).toEqual([...given.keys()]);
  expect(column.values).toHaveLength(given.length - 3);
});

test('of very many different values each is found, too', () => {
  const column = new ValueColumn();
  const numbers = column.numbersNow(10_000, (one) => `document ${one % 9_000}`);
  for (const one of [0, 1, 4_095, 5_000, 8_999, 9_000, 9_999]) {
    expect(column.values[numbers[one] as number]).toBe(`document ${one % 9_000}`);
  }
});
