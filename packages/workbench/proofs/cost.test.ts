import { expect, test } from 'vitest';
import { cost, LONG_GAP_S } from '../src/bench/cost.ts';

/** Of mem0: one for a message and its answer. */
const MEM0_CALLS = 0.5;

test('at the default settings no way with a model makes more calls than one for each exchange, where gaps are no longer than it waits', {
  timeout: 300_000,
}, async () => {
  const options = { users: 1, turns: 40 };
  const given = {
    number: (flag: string) => options[flag as keyof typeof options],
    choice: <const C extends string>(flag: string, [first, second]: readonly C[]) =>
      (flag === 'mem0' ? second : first) as C,
    numbers: () => [],
    url: () => null,
    path: () => null,
  };
  const { figures } = await cost.run(given, () => {});
  const calls = figures.filter(({ what }) => what.endsWith('calls per message') && !what.includes('builtin'));
  const within = calls.filter(({ what }) => !what.includes(` ${LONG_GAP_S} s:`));
  expect([calls.length, within.length]).toEqual([10, 8]);
  expect(within.filter(({ value }) => value === 0 || value > MEM0_CALLS)).toEqual([]);
});
