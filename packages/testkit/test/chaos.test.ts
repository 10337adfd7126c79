import { expect, test } from 'vitest';
import { chaos } from '../src/chaos/chaos.ts';

/** A mode takes a minute on a busy machine; far longer when something gets stuck. */
const WITHIN_MS = 400_000;
/** Takes two rounds in each mode, and kills a worker in a study in two of them. */
const SEED = '343';

/** A short one of what ./scripts/chaos does at length: every time the same faults. */
async function run(...args: string[]): Promise<{ code: number; reports: readonly Report[] }> {
  let results = '';
  const code = await chaos([...args, '--json'], {
    result: (text) => {
      results += text;
    },
    note: () => {},
    progress: () => {},
  });
  return { code, reports: results.startsWith('[') ? JSON.parse(results) : [] };
}

interface Report {
  readonly faults: number;
  readonly accepted: number;
  readonly lost: number;
  readonly doubled: number;
  readonly gap: number;
  readonly paidTwice: number;
  readonly findings: readonly unknown[];
}

test.each(['sqlite', 'postgres', 'embedded'])(
  'whatever fails, nothing is lost, doubled, out of order or paid twice: %s',
  async (mode) => {
    const { code, reports } = await run('--mode', mode, '--faults', '4', '--seed', SEED);
    expect(reports[0]).toMatchObject({ faults: 4, findings: [], lost: 0, doubled: 0, gap: 0, paidTwice: 0 });
    expect(reports[0]?.accepted).toBeGreaterThan(10);
    expect(code).toBe(0);
  },
  WITHIN_MS,
);

test('an unknown mode, an unknown fault and an unknown option are wrong use', async () => {
  expect((await run('--mode', 'cloudy')).code).toBe(2);
  expect((await run('--only', 'rain')).code).toBe(2);
  expect((await run('--no-such-option')).code).toBe(2);
  expect((await run('--help')).code).toBe(0);
});
