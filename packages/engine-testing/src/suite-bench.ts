import {
  DEFAULT_TENANT,
  discardSpace,
  estimateRun,
  type Replay,
  recordSuite,
  type Suite,
  type SuiteReport,
  startRun,
  sweepReplays,
  usualBudget,
  type WhatIfChanges,
} from '@slowwave/engine';
import { type EngineBench, engineBench, NEVER } from './engine-bench.ts';
import { type Spoiled, toldLives, toldModel } from './told-lives.ts';
import { seeded } from './worlds.ts';

const DAY = 24 * 60 * 60_000;

interface OtherModel {
  readonly spoiled?: Spoiled;
  readonly noisy?: number;
  readonly seed?: number;
}

export interface SuiteBench {
  readonly bench: EngineBench;
  readonly suite: Suite;
  readonly cases: number;
  start(changes: WhatIfChanges, budget?: number): Promise<string>;
  stored(id: string): Promise<Replay>;
  /** What a worker does with runs that are due. */
  sweep(cancel?: typeof NEVER): Promise<void>;
  /** A run from its start to its report. */
  perform(changes?: WhatIfChanges): Promise<SuiteReport>;
  /** The spaces of runs that are over go. */
  discard(): Promise<void>;
}

/** Lives that were consolidated, a suite recorded of them, and models by name to run it with. */
export async function suiteBench(
  owners: number,
  models: Readonly<Record<string, OtherModel>> = {},
): Promise<SuiteBench> {
  const lives = toldLives(owners);
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
  const asked = { tenant: DEFAULT_TENANT, name: 'daily', owners: owners, batchesPerOwner: 10, masked: false };
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
  const sweep: SuiteBench['sweep'] = async (cancel = NEVER) => {
    bench.tools.advance(60_000);
    await sweepReplays(replays, cancel);
  };
  const run = async (changes: WhatIfChanges = {}): Promise<SuiteReport> => {
    const id = await start(changes);
    await sweep();
    await bench.run();
    await sweep();
    return (await stored(id)).result as unknown as SuiteReport;
  };
  const discard = async (): Promise<void> => {
    const { results } = await bench.deps.ledger.suites.runs(DEFAULT_TENANT, made.suite.id, { limit: 10, cursor: null });
    for (const one of results) if (one.state === 'done') await discardSpace(bench.deps, one);
    await sweep();
    await sweep();
  };
  return { bench, suite: made.suite, cases: made.cases, start, stored, sweep, perform: run, discard };
}

/** The figures by which a run is blocked. */
export const worseIn = ({ figures }: SuiteReport): readonly string[] =>
  figures.filter(({ verdict }) => verdict === 'worse').map(({ figure }) => figure);
