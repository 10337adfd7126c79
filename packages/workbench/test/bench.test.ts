import { expect, test } from 'vitest';
import { BENCHES } from '../src/bench/benches.ts';
import type { Found } from '../src/bench/report.ts';
import { runBench } from '../src/bench/run.ts';

/** Runs a bench at the smallest size; what it reaches means nothing. */
async function found(...args: string[]): Promise<Found & { code: number; svg: string }> {
  let [result, note, svg] = ['', '', ''];
  const code = await runBench([...args, '--json', '--svg', 'bench.svg'], BENCHES, {
    result: (text) => {
      result += text;
    },
    note: (text) => {
      note += text;
    },
    save: async (_, text) => {
      svg = text;
    },
    progress: () => {},
  });
  expect(note).toBe('');
  return { ...(JSON.parse(result) as Found), code, svg };
}

// The others start what these start.
test.each([
  ['search', '--memories', '20', '--users', '2', '--questions', '3'],
  ['mixed', '--memories', '20', '--users', '2', '--rate', '20', '--seconds', '1', '--lanes', '2', '--processes', 'one'],
])('%s measures both sides, says which is which, and draws them', async (name, ...options) => {
  const { code, title, comparisons = [], svg } = await found(name, ...options);
  expect([0, 1], 'reached or below its target, not failed').toContain(code);
  expect(title).toContain(name);
  expect(comparisons.length).toBeGreaterThan(0);
  for (const { ours, yardstick } of comparisons) {
    expect([ours.value > 0, yardstick.value > 0], `${ours.name}, against ${yardstick.name}`).toEqual([true, true]);
    expect(svg).toContain(yardstick.name);
  }
});
