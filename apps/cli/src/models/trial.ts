import type { Config } from '@slowwave/adapters/config';
import type { Log, ModelStore } from '@slowwave/engine';
import { EngineError } from '@slowwave/engine/storing';

/** What was tried with a model, and what came of it. */
export interface Trial extends Outcome {
  readonly model: string;
  readonly tried: string;
}

export interface Outcome {
  /** limited: it works, but not as well as it could. */
  readonly verdict: 'ok' | 'limited' | 'failed' | 'not tried';
  readonly came: string;
  /** What to do about it; null: nothing. */
  readonly advice: string | null;
}

export const ok = (came: string) => ({ verdict: 'ok', came, advice: null }) as const;
export const limited = (came: string, advice: string) => ({ verdict: 'limited', came, advice }) as const;

/** What models are tried with. */
export interface Trying {
  readonly config: Config;
  readonly log: Log;
  readonly cancel: AbortSignal;
  readonly budget: Budget;
  /** What is known of models already. */
  readonly known: Pick<ModelStore, 'get'>;
}

/** Something to try. */
export interface Try {
  readonly tried: string;
  /** How long it takes, as far as the calls before it show that. */
  needs(): Needs;
  /** An EngineError is a failure that says in one sentence what was expected, what was received and what to do. */
  run(): Promise<Outcome>;
}

/** In milliseconds. */
export interface Needs {
  /** With less than this it is not worth a start. */
  readonly least: number;
  readonly likely: number;
}

export const NO_TIME: Needs = { least: 0, likely: 0 };

/** A model and all that is tried with it, in the order in which it is shown. If the first try fails, the others are pointless. */
export interface Candidate {
  readonly model: string;
  readonly tries: readonly Try[];
  /** How fast it is, as far as that is known; for people. */
  pace(): string;
  close(): Promise<void>;
}

/** What comes of a try, whatever that is. */
export async function outcomeOf({ run }: Try): Promise<Outcome> {
  try {
    return await run();
  } catch (error) {
    if (!(error instanceof EngineError)) throw error;
    return { verdict: 'failed', came: error.code, advice: error.message };
  }
}

/** Time as it passes. */
export interface Clock {
  /** In milliseconds, from any moment on. */
  now(): number;
  /** Aborted so many milliseconds later. */
  after(ms: number): AbortSignal;
}

export const SYSTEM_CLOCK: Clock = {
  now: () => performance.now(),
  after: (ms) => AbortSignal.timeout(Math.ceil(ms)),
};

/** The time that all tries may take together. */
interface Budget {
  readonly ms: number;
  readonly clock: Clock;
  /** How many milliseconds of it are left. */
  left(): number;
  /** The answer of whoever is in time; null: it was not. `share`: of the whole budget, for this alone. */
  within<T>(ask: (cancel: AbortSignal) => Promise<T>, share?: number): Promise<T | null>;
  /** Takes none of the time. */
  outside<T>(work: () => Promise<T>): Promise<T>;
}

export function budgetOf(ms: number, { clock, cancel }: { clock: Clock; cancel: AbortSignal }): Budget {
  let until = clock.now() + ms;
  const left = (): number => Math.max(0, until - clock.now());
  return {
    ms,
    clock,
    left,
    within: async (ask, share = 1) => {
      const late = clock.after(Math.min(left(), ms * share));
      try {
        return await ask(AbortSignal.any([cancel, late]));
      } catch (error) {
        if (late.aborted && !cancel.aborted) return null;
        throw error;
      }
    },
    outside: async (work) => {
      const startedAt = clock.now();
      try {
        return await work();
      } finally {
        until += clock.now() - startedAt;
      }
    },
  };
}

/** Of a budget. */
export const MINUTES_MAX = 60;

export const SECOND_MS = 1_000;
export const MINUTE_MS = 60_000;

const TENTHS_BELOW_S = 10;
export function secondsOf(ms: number): string {
  const seconds = ms / SECOND_MS;
  return `${seconds < TENTHS_BELOW_S ? seconds.toFixed(1) : Math.round(seconds)} s`;
}
