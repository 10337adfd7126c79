import { expect, test } from 'vitest';
import { simulateYear } from '../year.ts';

test('in a year of growth cells stay alike, and hardly more move than come', () => {
  const year = simulateYear({ seed: '1', cells: 10, owners: 1_000, growth: 0.1, perDay: 10, dimensions: 384 });
  const last = year.months.at(-1);
  expect(last?.cells).toBe(29);
  expect(year.owners / year.came).toBeLessThan(1.2);
  for (const { fullest } of year.months) expect(fullest.owners).toBeLessThan(1.25);
});
