import { type EngineBench, NEVER, suiteBench, worseIn } from '@slowwave/engine-testing';
import { describe, expect, test } from 'vitest';
import { eraseOwner } from '../erasure/erase.ts';
import { requestErasure } from '../erasure/request.ts';
import { spaceOf } from '../ids.ts';
import type { Replay } from '../ports/ledger/replays.ts';
import type { SuiteReport } from '../suites/report.ts';
import { takeTurn } from '../turns/take-turn.ts';
import { DEFAULT_TENANT } from '../words.ts';

const OWNERS = 16;
const QUEUE = { erase: async () => {}, forgetLane: async () => {} };

test('a suite of what was recorded, run again as it was, passes with the same figures', async () => {
  const { perform, cases } = await suiteBench(OWNERS);
  const report = await perform();
  expect(cases).toBe(OWNERS);
  expect(report).toMatchObject({ passed: true, baseline: null, lost: 0, batches: { parked: 0 } });
  for (const { figure, baseline, variant } of report.figures) expect([figure, variant]).toEqual([figure, baseline]);
});

// Three of the twelve: `./scripts/prove gate` tries them all, and 200 runs of an unchanged model.
describe('a model is blocked that', () => {
  const tried = [
    ['drops negations', 'negations_kept'],
    ['doubles tokens', 'prompt_tokens'],
    ['adds instead of updating', 'stale'],
  ] as const;
  const models = Object.fromEntries(tried.map(([name]) => [name, { regression: name }]));
  const bench = suiteBench(OWNERS, models);
  test.each(tried)('%s, by %s', async (model, figure) => {
    const { perform } = await bench;
    const report = await perform({ model });
    expect(report.passed).toBe(false);
    expect(worseIn(report)).toContain(figure);
  });
});

test('a model as good as before passes, though five answers of a hundred are not as they should be', async () => {
  const { perform } = await suiteBench(OWNERS, { noisy: { noise: { percent: 5, seed: 1 } } });
  expect(worseIn(await perform({ model: 'noisy' }))).toEqual([]);
});

test('what was known before the first batch of a case can be updated and ended in its runs', async () => {
  const { perform } = await suiteBench(OWNERS, { worse: { regression: 'updates the wrong one' } }, 1);
  const same = await perform();
  const of = (report: SuiteReport, name: string) => report.figures.find(({ figure }) => figure === name);
  for (const figure of ['targets_hit', 'deletes_kept', 'stale']) {
    expect(of(same, figure)?.n.variant, figure).toBeGreaterThan(3);
    expect([figure, of(same, figure)?.variant]).toEqual([figure, of(same, figure)?.baseline]);
  }
  expect(worseIn(await perform({ model: 'worse' }))).toContain('targets_hit');
});

test('a run that is cut off again and again ends as one that is not', async () => {
  const { bench, sweep, start, stored, perform } = await suiteBench(OWNERS);
  const whole = await perform();
  const id = await start({});
  for (let looks = 1; (await stored(id)).state === 'preparing'; looks += 7) {
    await sweep(cutOffAfter(looks));
  }
  await bench.run();
  await sweep();
  const report = (await stored(id)).result as unknown as SuiteReport;
  expect(report.cases).toEqual(whole.cases);
});

/** Turns of lanes that may never come to rest. */
async function someTurns({ deps, tools }: EngineBench, count: number): Promise<void> {
  const handle = takeTurn(deps);
  for (let turns = 0; turns < count; turns += 1) {
    const [nudge] = await deps.ledger.lanes.withWork(null, 1);
    if (nudge === undefined) return;
    tools.advance(Math.max(0, nudge.dueAt - tools.now()));
    await handle({ lane: nudge.lane, generation: nudge.generation }, NEVER);
  }
}

/** Aborted once it was looked at so often. */
const cutOffAfter = (looks: number) => {
  let looked = 0;
  return {
    ...NEVER,
    get aborted() {
      looked += 1;
      return looked > looks;
    },
  };
};

test('a run ends where its budget does, and never uses more', async () => {
  const { bench, sweep, start, stored } = await suiteBench(OWNERS);
  const budget = 40_000;
  const id = await start({}, budget);
  for (let minute = 0; minute < 20 && (await stored(id)).state !== 'failed'; minute += 1) {
    await sweep();
    await someTurns(bench, 40);
  }
  const run = await stored(id);
  expect(run).toMatchObject({ state: 'failed', failure: { code: 'budget_exhausted' } });
  expect(run.spent).toBeGreaterThan(budget / 2);
  expect(run.spent).toBeLessThanOrEqual(budget);
});

test('what a worker that died had reserved of a budget is free again when it lapses, and the run waits for it', async () => {
  const { bench, sweep, start, stored } = await suiteBench(4);
  const budget = 100_000;
  const id = await start({}, budget);
  const { replays } = bench.deps.ledger;
  const now = bench.tools.now();
  const dead = { id: 'cal_dead', least: 99_000, most: 99_000, budget, now, until: now + 10 * 60_000 };
  expect(await replays.reserve(id, dead)).toBe(99_000);
  await sweep();
  await someTurns(bench, 40);
  await sweep();
  expect(await stored(id), 'nobody has used it').toMatchObject({ state: 'running', spent: 0 });
  bench.tools.advance(10 * 60_000);
  await bench.run();
  await sweep();
  expect(await stored(id)).toMatchObject({ state: 'done', reserved: [] });
});

test('who is erased is in no case, no space and no example any more', async () => {
  const { bench, sweep, suite, perform } = await suiteBench(OWNERS, {
    worse: { regression: 'halves recall' },
  });
  const { lost } = await perform({ model: 'worse' });
  const owner = { kind: 'user', id: 'user-3' } as const;
  const { ledger } = bench.deps;
  const erasure = await requestErasure(bench.deps, DEFAULT_TENANT, owner);
  await eraseOwner({ ...bench.deps, queue: QUEUE, settleMs: 0 })(erasure.id, NEVER);
  const cases = await ledger.suites.cases(suite.id, { after: -1, limit: 100 });
  expect(cases.length).toBe(OWNERS - 1);
  expect(JSON.stringify(cases)).not.toContain('"user-3"');
  const { results } = await ledger.suites.runs(DEFAULT_TENANT, suite.id, { limit: 10, cursor: null });
  const [run] = results as readonly [Replay];
  const { differences } = run.result as unknown as SuiteReport;
  expect(differences.length).toBeLessThan(lost);
  expect(JSON.stringify(differences)).not.toContain('"user-3"');
  const inSpace = await ledger.lanes.find(spaceOf({ tenant: DEFAULT_TENANT, replay: run.id }), owner);
  expect(inSpace, 'its copy is being erased as well').toBeNull();
  await sweep();
});
