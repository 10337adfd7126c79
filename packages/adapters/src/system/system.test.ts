import { setFlagsFromString } from 'node:v8';
import { type OwnerBits, ownerBitsIn } from '@slowwave/engine';
import { expect, test } from 'vitest';
import { startThread, systemTools } from './system.ts';

const BITS = 0x1234 as OwnerBits;

test('the clock tells milliseconds since 1970', () => {
  const before = Date.now();
  const now = systemTools.now();
  expect(now).toBeGreaterThanOrEqual(before);
  expect(now).toBeLessThanOrEqual(Date.now());
});

test('ids name their kind and are all different', () => {
  const ids = Array.from({ length: 10_000 }, () => systemTools.id('mem', BITS));
  expect(ids.filter((id) => !/^mem_[0-9abcdefghjkmnpqrstvwxyz]{26}$/u.test(id))).toEqual([]);
  expect(new Set(ids).size).toBe(ids.length);
});

test('ids of an owner carry its bits, and differ in 44 others', () => {
  const ids = Array.from({ length: 10_000 }, () => systemTools.id('mem', BITS));
  expect(new Set(ids.map(ownerBitsIn))).toEqual(new Set([BITS]));
  const rests = ids.map((id) => [...id.slice('mem_'.length + 17)].map((digit) => DIGITS.indexOf(digit)));
  expect(variety(rests, 0)).toBe(16);
  for (let place = 1; place < 9; place += 1) expect(variety(rests, place)).toBe(32);
});

test('ids of what belongs to nobody are random where others name their owner', () => {
  const ids = Array.from({ length: 10_000 }, () => systemTools.id('key'));
  expect(new Set(ids.map(ownerBitsIn)).size).toBeGreaterThan(5_000);
});

const DIGITS = '0123456789abcdefghjkmnpqrstvwxyz';

/** How many values the digit at a place takes; of the first, only its last 4 bits are nobody's. */
const variety = (rests: readonly (readonly number[])[], place: number): number =>
  new Set(rests.map((rest) => (rest[place] ?? 0) % (place === 0 ? 16 : 32))).size;

test('ids sort by the time they were made', async () => {
  const ids: string[] = [];
  for (let i = 0; i < 5; i += 1) {
    ids.push(systemTools.id('bat', BITS));
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
  // A few tell enough: to show how two lists of so many differ would take minutes.
  expect(ids.filter((id, i) => i > 0 && id <= (ids[i - 1] ?? '')).slice(0, 3)).toEqual([]);
});

test('ids that are made at once sort in the order in which they were made', () => {
  const ids = Array.from({ length: 50_000 }, () => systemTools.id('mem', BITS));
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

/** Answers each call with its name. */
const ECHO = `
import { parentPort } from 'node:worker_threads';
parentPort.on('message', (calls) => {
  parentPort.postMessage(calls.map(({ id, method }) => ({ kind: 'answer', id, value: method })));
  if (calls.some(({ method }) => method === 'close')) parentPort.close();
});`;

test.each(['watch:import', 'watch:require'])(
  'a thread answers when node --watch reports %s through it',
  async (report) => {
    const reporting = `${ECHO}\nparentPort.postMessage({ '${report}': ['file:///somewhere.ts'] });`;
    const thread = await startThread(new URL(`data:text/javascript,${encodeURIComponent(reporting)}`), null);
    expect(await thread.call('hello')).toBe('hello');
    await thread.close();
  },
);

/** Answers with the most memory that it had for new objects, in bytes, while it made many. */
const MAKING = `
import { parentPort } from 'node:worker_threads';
import { getHeapSpaceStatistics } from 'node:v8';
const made = [];
let most = 0;
for (let i = 0; i < 1_000_000; i += 1) {
  made[i % 60_000] = [i];
  if (i % 20_000 > 0) continue;
  const { space_size } = getHeapSpaceStatistics().find(({ space_name }) => space_name === 'new_space');
  most = Math.max(most, space_size);
}
parentPort.on('message', (calls) => {
  parentPort.postMessage(calls.map(({ id }) => ({ kind: 'answer', id, value: most })));
  if (calls.some(({ method }) => method === 'close')) parentPort.close();
});`;

test('a thread has its own small room for new objects, whatever the process was started with', async () => {
  setFlagsFromString('--max-semi-space-size=8');
  const thread = await startThread(new URL(`data:text/javascript,${encodeURIComponent(MAKING)}`), null);
  expect(await thread.call<number>('most')).toBeLessThanOrEqual(6 * 1_024 * 1_024);
  await thread.close();
});
