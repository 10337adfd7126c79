import {
  type Canary,
  type CanaryDeps,
  canarySweep,
  DEFAULT_TENANT,
  liveVersion,
  NO_BUDGET,
  startCanary,
} from '@slowwave/engine';
import { type BenchOptions, type EngineBench, engineBench, NEVER } from './engine-bench.ts';
import { type Noise, type Regression, type TalkBatch, talkInRounds, talkModel } from './seeded-regressions.ts';
import { stateHash } from './state-hash.ts';

const TENANT = DEFAULT_TENANT;
const DAY = 24 * 3_600_000;
/** Half of the owners for longer than any test, so that the others can be compared with them. */
const HALF = [
  { share: 50, minMs: DAY, minConsolidations: 1_000 },
  { share: 100, minMs: DAY, minConsolidations: 1_000 },
];
/** More than an undo needs. */
const LOOKS_MAX = 300;

export interface CanaryTalk {
  readonly users: number;
  readonly rounds: number;
  readonly seed: number;
  /** Rounds before the canary starts. */
  readonly before: number;
  /** Batches between two looks of the sweep. */
  readonly every: number;
  /** So many answers of a hundred are not as they should be: of the usual model, and of one that is as good. */
  readonly noise?: number;
}

/** People who talk, and a canary of a model that makes memory worse, or not. */
export async function canaryBench(
  { users, rounds, seed, before, every, noise: percent = 0 }: CanaryTalk,
  given: Partial<BenchOptions> = {},
): Promise<CanaryBench> {
  const noise = (more: number): { noise: Noise } => ({ noise: { percent, seed: 2 * seed + more } });
  const same = talkModel(null, noise(1));
  const otherChat = (name: string) => (name === 'good' ? same : talkModel(name as Regression));
  const bench = await engineBench({ otherChat, ...given, chat: talkModel(null, noise(0)) });
  const { deps, tools } = bench;
  const talk = talkInRounds({ users, rounds, seed });
  const canaries: CanaryDeps = { ...deps, nudge: async () => {} };
  const sweep = canarySweep(canaries);
  const post = async ({ userId, at, messages }: TalkBatch): Promise<void> => {
    tools.advance(1_000);
    await bench.post(messages, { userId, at });
    await bench.run();
  };
  const look = async (): Promise<void> => {
    tools.advance(5_000);
    await sweep(NEVER);
  };
  const canary = async (): Promise<Canary> => {
    const [newest] = (await deps.ledger.canaries.list(TENANT, { limit: 1, cursor: null })).results;
    if (newest === undefined) throw new Error('no canary was started');
    return newest;
  };
  const perUser = async <T>(of: (userId: string) => Promise<T>): Promise<Record<string, T>> => {
    const found: Record<string, T> = {};
    for (let i = 0; i < users; i += 1) found[`user-${i}`] = await of(`user-${i}`);
    return found;
  };
  return {
    ...bench,
    canaries,
    look,
    canary,
    start: async (model, asked = {}) => {
      const changes = { model: model ?? 'good' };
      const how = { steps: HALF, bounds: {}, undo: 'automatic', budget: NO_BUDGET } as const;
      const started = await startCanary(deps, { tenant: TENANT, changes, ...how, ...asked });
      if (started === null) throw new Error('a canary is open already');
      return started;
    },
    talkUntilHalted: async (start) => {
      const batches = talk.flat();
      for (const [i, batch] of batches.entries()) {
        if (i === before * users) await start();
        await post(batch);
        if (i < before * users || i % every > 0) continue;
        await look();
        if ((await canary()).state !== 'running') return i + 1;
      }
      return batches.length;
    },
    talk: async (count) => {
      for (const batch of talk.flat().slice(0, count)) await post(batch);
    },
    until: async (state) => {
      for (let i = 0; i < LOOKS_MAX && (await canary()).state !== state; i += 1) {
        await look();
        await bench.run();
      }
    },
    hashes: () => perUser(async (userId) => stateHash(await bench.memories(userId))),
    texts: () =>
      perUser(async (userId) => (await bench.memories(userId)).flatMap((one) => liveVersion(one)?.text ?? []).sort()),
  };
}

export interface CanaryBench extends EngineBench {
  readonly canaries: CanaryDeps;
  /** The newest. */
  canary(): Promise<Canary>;
  start(model: Regression | null, asked?: Partial<Parameters<typeof startCanary>[1]>): Promise<Canary>;
  /** Sweeps once, a few seconds later. */
  look(): Promise<void>;
  /** Answers with how many batches were said by then. */
  talkUntilHalted(start: () => Promise<unknown>): Promise<number>;
  /** The first batches of all. */
  talk(count: number): Promise<void>;
  /** Sweeps and takes turns until the canary is in a state. */
  until(state: Canary['state']): Promise<void>;
  /** The state hash of each user. */
  hashes(): Promise<Record<string, string>>;
  /** What holds now of each user. */
  texts(): Promise<Record<string, readonly string[]>>;
}
