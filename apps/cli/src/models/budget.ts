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
export interface Budget {
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
