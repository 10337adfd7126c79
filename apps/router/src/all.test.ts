import { expect, test } from 'vitest';
import { grouped, summed } from './all.ts';

test('numbers are added, lists follow each other, and of times the worst counts', () => {
  const one = {
    batches: { pending: 2, gap: 0 },
    lag_ms: 40,
    oldest_due_at: '2026-03-02',
    at: '2026-03-03',
    results: [1],
  };
  const two = {
    batches: { pending: 3, gap: 1 },
    lag_ms: 90,
    oldest_due_at: '2026-03-01',
    at: '2026-03-03',
    results: [2],
  };
  expect(summed([one, two])).toEqual({
    ...{ batches: { pending: 5, gap: 1 }, lag_ms: 90, oldest_due_at: '2026-03-01', at: '2026-03-03', results: [1, 2] },
  });
});

test('what one cell does not know, another one may', () => {
  expect(
    summed([
      { oldest: null, more: false, used: 1 },
      { oldest: 'x', more: true },
    ]),
  ).toEqual({
    ...{ oldest: 'x', more: true, used: 1 },
  });
  expect(summed([null, null])).toBeNull();
});

test('rows that differ in numbers only become one', () => {
  const row = (day: string, calls: number) => ({ day, model: 'm', user_id: null, calls });
  const lists = [
    { results: [row('1', 2), row('2', 1)], next_cursor: null },
    { results: [row('1', 5)], next_cursor: null },
  ];
  expect(grouped(lists)).toEqual({ results: [row('1', 7), row('2', 1)], next_cursor: null });
});
