import {
  DEFAULT_TENANT,
  type LaneId,
  type NightOutcome,
  nightSettler,
  type SleepSettings,
  sleepLane,
  sweepNights,
  type TenantSettings,
} from '@slowwave/engine';
import { type BenchOptions, type EngineBench, engineBench, NEVER } from './engine-bench.ts';
import { stateHash } from './state-hash.ts';

/** An engine whose owners sleep whenever a night is due. */
export interface NightBench extends EngineBench {
  /** How every try at a night ended. */
  readonly outcomes: readonly NightOutcome[];
  readonly settler: ReturnType<typeof nightSettler>;
  /** Lets hours pass, then makes every night that is due, as a sweep and a worker do. Answers how many jobs there were. */
  night(hours?: number): Promise<number>;
  hash(userId?: string): Promise<string>;
}

const HOUR_MS = 3_600_000;
const NIGHT_HOURS = 24;
const TAKE_OVER_MS = 30_000;
/** Tries of one night, and of nights that follow at once. */
const TRIES_MAX = 20;

export async function nightBench(options: BenchOptions, sleep: Partial<SleepSettings> = {}): Promise<NightBench> {
  const bench = await engineBench(options);
  const { ledger } = bench.deps;
  const rules: TenantSettings = await ledger.settings.get(DEFAULT_TENANT);
  await ledger.settings.put(DEFAULT_TENANT, { ...rules, sleep: { ...rules.sleep, mode: 'auto', ...sleep } });
  const outcomes: NightOutcome[] = [];
  const deps = {
    ...bench.deps,
    slept: (outcome: NightOutcome) => void outcomes.push(outcome),
    takeOverMs: TAKE_OVER_MS,
  };
  return {
    ...bench,
    outcomes,
    settler: nightSettler(bench.deps),
    night: async (hours = NIGHT_HOURS) => {
      bench.tools.advance(hours * HOUR_MS);
      const asked: LaneId[] = [];
      await sweepNights(bench.deps, { sleep: async (lanes) => void asked.push(...lanes) });
      for (const lane of asked) {
        for (let tries = 0, at = await sleepLane(deps)(lane, NEVER); at !== null && tries < TRIES_MAX; tries += 1) {
          bench.tools.advance(Math.max(0, at - bench.tools.now()));
          at = await sleepLane(deps)(lane, NEVER);
        }
      }
      return asked.length;
    },
    hash: async (userId) => stateHash(await bench.memories(userId)),
  };
}
