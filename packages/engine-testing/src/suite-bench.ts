import {
  DEFAULT_TENANT,
  discardSpace,
  type Embedder,
  estimateRun,
  type NamedEmbedder,
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
import { type Noise, type Regression, talkInRounds, talkModel } from './seeded-regressions.ts';

interface OtherModel {
  readonly regression?: Regression;
  readonly noise?: Noise;
}

/** Enough that something is replaced, and something ends. */
const ROUNDS = 3;
const SEED = 11;

/** What owners of a suite say. */
export const suiteTalk = (owners: number) => talkInRounds({ users: owners, rounds: ROUNDS, seed: SEED }).flat();

interface SuiteBenchOptions {
  readonly batchesPerOwner?: number;
  /** By the names of their models. */
  readonly embedders?: Readonly<Record<string, NamedEmbedder>>;
  /** Embeds what is asked. */
  readonly queries?: Embedder;
}

export interface SuiteBench {
  readonly bench: EngineBench;
  readonly suite: Suite;
  readonly cases: number;
  start(changes: WhatIfChanges, how?: { readonly budget?: number; readonly embedder?: string }): Promise<string>;
  stored(id: string): Promise<Replay>;
  /** What a worker does with runs that are due. */
  sweep(cancel?: typeof NEVER): Promise<void>;
  /** A run from its start to its report. */
  perform(changes?: WhatIfChanges, how?: { readonly embedder?: string }): Promise<SuiteReport>;
  /** The spaces of runs that are over go. */
  discard(): Promise<void>;
}

/** What owners said, a suite recorded of it, and models by name to run it with. */
export async function suiteBench(
  owners: number,
  models: Readonly<Record<string, OtherModel>> = {},
  { batchesPerOwner = ROUNDS, embedders = {}, queries }: SuiteBenchOptions = {},
): Promise<SuiteBench> {
  const others = new Map(
    Object.entries(models).map(([name, { regression = null, noise }]) => [
      name,
      talkModel(regression, { name, ...(noise !== undefined && { noise }) }),
    ]),
  );
  const { deps, ...rest } = await engineBench({ chat: talkModel(), otherChat: (name) => others.get(name) ?? null });
  const otherEmbedder = async (name: string) => embedders[name] ?? null;
  const bench = { ...rest, deps: { ...deps, otherEmbedder, ...(queries !== undefined && { queries }) } };
  for (const { userId, at, messages } of suiteTalk(owners)) {
    bench.tools.advance(1_000);
    await bench.post(messages, { userId, at });
    await bench.run();
  }
  const asked = { tenant: DEFAULT_TENANT, name: 'daily', owners, batchesPerOwner, masked: false };
  const made = await recordSuite(bench.deps, asked);
  if (made.kind !== 'recorded') throw new Error(`expected a suite, got ${made.kind}`);
  const replays = { ...bench.deps, nudge: async () => {}, forgetFailed: async () => {} };
  const start: SuiteBench['start'] = async (changes, { budget, embedder = null } = {}) => {
    const estimate = await estimateRun(bench.deps, made.suite);
    const started = await startRun(bench.deps, {
      ...{
        suite: made.suite,
        changes,
        budget: budget ?? usualBudget(estimate),
        matched: estimate.batches,
        embedder,
        key: null,
      },
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
  const run: SuiteBench['perform'] = async (changes = {}, how = {}) => {
    const id = await start(changes, how);
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
