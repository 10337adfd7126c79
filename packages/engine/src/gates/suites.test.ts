import {
  type EngineBench,
  engineBench,
  NEVER,
  REGRESSIONS,
  type Spoiled,
  seeded,
  toldLives,
  toldModel,
} from '@slowwave/engine-testing';
import { describe, expect, test } from 'vitest';
import { eraseOwner } from '../erasure/erase.ts';
import { requestErasure } from '../erasure/request.ts';
import { spaceOf } from '../ids.ts';
import type { Replay } from '../ports/ledger/replays.ts';
import type { WhatIfChanges } from '../replays/in-space.ts';
import { sweepReplays } from '../replays/what-if.ts';
import { recordSuite } from '../suites/record.ts';
import type { SuiteReport } from '../suites/report.ts';
import { estimateRun, startRun, usualBudget } from '../suites/run.ts';
import { takeTurn } from '../turns/take-turn.ts';
import { DEFAULT_TENANT } from '../words.ts';

const OWNERS = 30;
const DAY = 24 * 60 * 60_000;
const QUEUE = { erase: async () => {}, forgetLane: async () => {} };

/** Lives that were consolidated, a suite recorded of them, and models by name to run it with. */
async function recorded(models: Readonly<Record<string, { spoiled?: Spoiled; noisy?: number; seed?: number }>> = {}) {
  const lives = toldLives(OWNERS);
  const others = new Map(
    Object.entries(models).map(([name, { seed = 1, ...rest }]) => [
      name,
      toldModel(lives, { name, random: seeded(seed), ...rest }),
    ]),
  );
  const bench = await engineBench({ chat: toldModel(lives), otherChat: (name) => others.get(name) ?? null });
  for (const { userId, sittings } of lives) {
    for (const lines of sittings) {
      bench.tools.advance(DAY);
      await bench.post(
        lines.map(({ says }) => says),
        { userId },
      );
      await bench.run();
    }
  }
  const asked = { tenant: DEFAULT_TENANT, name: 'daily', owners: OWNERS, batchesPerOwner: 10, masked: false };
  const made = await recordSuite(bench.deps, asked);
  if (made.kind !== 'recorded') throw new Error(`expected a suite, got ${made.kind}`);
  const replays = { ...bench.deps, nudge: async () => {}, forgetFailed: async () => {} };
  const start = async (changes: WhatIfChanges, budget?: number): Promise<string> => {
    const estimate = await estimateRun(bench.deps, made.suite);
    const started = await startRun(bench.deps, {
      ...{ suite: made.suite, changes, budget: budget ?? usualBudget(estimate), matched: estimate.batches, key: null },
    });
    if (started.kind === 'conflict') throw new Error('expected a run, got a conflict');
    return started.run.id;
  };
  const stored = async (id: string): Promise<Replay> => {
    const run = await bench.deps.ledger.replays.get(DEFAULT_TENANT, id);
    if (run === null) throw new Error(`expected the run ${id}, got none`);
    return run;
  };
  const sweep = async () => {
    bench.tools.advance(60_000);
    await sweepReplays(replays, NEVER);
  };
  const run = async (changes: WhatIfChanges = {}): Promise<SuiteReport> => {
    const id = await start(changes);
    await sweep();
    await bench.run();
    await sweep();
    return (await stored(id)).result as unknown as SuiteReport;
  };
  return { bench, replays, suite: made.suite, cases: made.cases, start, stored, perform: run };
}

const worse = ({ figures }: SuiteReport): string[] =>
  figures.filter(({ verdict }) => verdict === 'worse').map(({ figure }) => figure);

test('a suite of what was recorded, run again as it was, passes with the same figures', async () => {
  const { perform, cases } = await recorded();
  const report = await perform();
  expect(cases).toBe(OWNERS);
  expect(report).toMatchObject({ passed: true, baseline: null, lost: 0, batches: { parked: 0 } });
  for (const { figure, baseline, variant } of report.figures) expect([figure, variant]).toEqual([figure, baseline]);
});

describe('a model is blocked that', () => {
  const models = Object.fromEntries(Object.entries(REGRESSIONS).map(([name, spoiled]) => [name, { spoiled }]));
  const bench = recorded(models);
  test.each([
    ['drops negations', 'negations_kept'],
    ['translates names', 'targets_hit'],
    ['merges two people', 'names_apart'],
    ['invents dates', 'dates_said'],
    ['doubles tokens', 'prompt_tokens'],
    ['cuts quotes', 'quotes_stand'],
    ['ignores deletes', 'deletes_kept'],
    ['answers in another shape', 'repaired'],
    ['loses a language', 'heard_foreign'],
    ['updates the wrong one', 'targets_other'],
    ['adds instead of updating', 'stale'],
    ['halves recall', 'facts_kept'],
  ])('%s, by %s', async (model, figure) => {
    const { perform } = await bench;
    const report = await perform({ model });
    expect(report.passed).toBe(false);
    expect(worse(report)).toContain(figure);
  });
});

test('a model as good as before passes, though five answers of a hundred are not as they should be', async () => {
  const seeds = [1, 2, 3];
  const models = Object.fromEntries(seeds.map((seed) => [`noisy ${seed}`, { noisy: 5, seed }]));
  const { perform } = await recorded(models);
  for (const model of Object.keys(models)) expect([model, worse(await perform({ model }))]).toEqual([model, []]);
});

test('a run that is cut off again and again ends as one that is not', async () => {
  const { bench, replays, start, stored, perform } = await recorded();
  const whole = await perform();
  const id = await start({});
  for (let looks = 1; (await stored(id)).state === 'preparing'; looks += 7) {
    bench.tools.advance(60_000);
    await sweepReplays(replays, cutOffAfter(looks));
  }
  await bench.run();
  bench.tools.advance(60_000);
  await sweepReplays(replays, NEVER);
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
  const { bench, replays, start, stored } = await recorded();
  const budget = 40_000;
  const id = await start({}, budget);
  for (let minute = 0; minute < 20 && (await stored(id)).state !== 'failed'; minute += 1) {
    bench.tools.advance(60_000);
    await sweepReplays(replays, NEVER);
    await someTurns(bench, 40);
  }
  const run = await stored(id);
  expect(run).toMatchObject({ state: 'failed', failure: { code: 'budget_exhausted' } });
  expect(run.spent).toBeGreaterThan(budget / 2);
  expect(run.spent).toBeLessThanOrEqual(budget);
});

test('who is erased is in no case, no space and no example any more', async () => {
  const { bench, replays, suite, perform } = await recorded({ worse: { spoiled: REGRESSIONS['halves recall'] ?? {} } });
  const { lost } = await perform({ model: 'worse' });
  const owner = { kind: 'user', id: 'user 3' } as const;
  const { ledger } = bench.deps;
  const erasure = await requestErasure(bench.deps, DEFAULT_TENANT, owner);
  await eraseOwner({ ...bench.deps, queue: QUEUE, settleMs: 0 })(erasure.id, NEVER);
  const cases = await ledger.suites.cases(suite.id, { after: -1, limit: 100 });
  expect(cases.length).toBe(OWNERS - 1);
  expect(JSON.stringify(cases)).not.toContain('"user 3"');
  const { results } = await ledger.suites.runs(DEFAULT_TENANT, suite.id, { limit: 10, cursor: null });
  const [run] = results as readonly [Replay];
  const { differences } = run.result as unknown as SuiteReport;
  expect(differences.length).toBeLessThan(lost);
  expect(JSON.stringify(differences)).not.toContain('"user 3"');
  const inSpace = await ledger.lanes.find(spaceOf({ tenant: DEFAULT_TENANT, replay: run.id }), owner);
  expect(inSpace, 'its copy is being erased as well').toBeNull();
  await sweepReplays(replays, NEVER);
});
