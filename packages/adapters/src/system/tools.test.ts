import { expect, test } from 'vitest';
import { systemTools } from './tools.ts';

test('the clock tells milliseconds since 1970', () => {
  const before = Date.now();
  const now = systemTools.now();
  expect(now).toBeGreaterThanOrEqual(before);
  expect(now).toBeLessThanOrEqual(Date.now());
});

test('ids name their kind and are all different', () => {
  const ids = Array.from({ length: 10_000 }, () => systemTools.id('mem'));
  expect(ids.filter((id) => !/^mem_[0-9abcdefghjkmnpqrstvwxyz]{26}$/u.test(id))).toEqual([]);
  expect(new Set(ids).size).toBe(ids.length);
});

test('ids sort by the time they were made', async () => {
  const ids: string[] = [];
  for (let i = 0; i < 5; i += 1) {
    ids.push(systemTools.id('bat'));
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
  // A few tell enough: to show how two lists of so many differ would take minutes.
  expect(ids.filter((id, i) => i > 0 && id <= (ids[i - 1] ?? '')).slice(0, 3)).toEqual([]);
});

test('ids that are made at once sort in the order in which they were made', () => {
  const ids = Array.from({ length: 50_000 }, () => systemTools.id('mem'));
  // A few tell enough: to show how two lists of so many differ would take minutes.
  expect(ids.filter((id, i) => i > 0 && id <= (ids[i - 1] ?? '')).slice(0, 3)).toEqual([]);
  const times = new Set(ids.map((id) => id.slice(0, 'mem_'.length + 10)));
  expect(times.size).toBeLessThan(ids.length / 2);
});

test('a hash is the hex SHA-256 of the text in UTF-8', () => {
  expect(systemTools.hash('')).toBe('e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855');
  expect(systemTools.hash('日本')).toMatch(/^[0-9a-f]{64}$/u);
  expect(systemTools.hash('日本')).not.toBe(systemTools.hash('日'));
});
