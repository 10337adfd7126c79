import { expect, test } from 'vitest';
import { chaos } from '../src/chaos/chaos.ts';

/** A mode takes a minute on a busy machine; far longer when something gets stuck. */
const WITHIN_MS = 400_000;
/**
 * Of five processes and of one, two kinds that took the most to bear; all of them in all modes, as `./scripts/prove chaos-…` runs them,
 * take hours. That PostgreSQL is killed and Redis is wiped is tried in tests of their own.
 */
const KINDS = {
  sqlite: ['killed after study answered', 'parts of the queue removed'],
  embedded: ['killed after extract answered', 'index wiped'],
};
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

test.each(Object.entries(KINDS))(
  'whatever fails, nothing is lost, doubled, out of order or paid twice: %s',
  async (mode, kinds) => {
    const only = kinds.flatMap((kind) => ['--only', kind]);
    const { code, reports } = await run('--mode', mode, '--faults', String(kinds.length), '--seed', SEED, ...only);
    expect(reports[0]).toMatchObject({ faults: kinds.length, findings: [], lost: 0, doubled: 0, gap: 0, paidTwice: 0 });
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
