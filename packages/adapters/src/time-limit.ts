import { type Cancellation, EngineError } from '@slowwave/engine';

export interface TimeLimit {
  /** Aborted when the time is used up, or with the outer signal. */
  readonly signal: AbortSignal;
  clear(): void;
}

interface Clock {
  stop(): void;
  go(): void;
}

/** Of work that has a limit, by its signal. */
const CLOCKS = new WeakMap<Cancellation, Clock>();

/** The time that work has; the engine counts it as a failed try to use up all of it. While it stands in line its clock stands still. */
export function timeLimit(
  outer: AbortSignal | undefined,
  { timeoutMs, tooLong }: { readonly timeoutMs: number; readonly tooLong: (ms: number) => string },
): TimeLimit {
  const own = new AbortController();
  const signal = outer === undefined ? own.signal : AbortSignal.any([outer, own.signal]);
  const usedUp = (): void => own.abort(new EngineError(tooLong(timeoutMs), { code: 'model_timeout', retryable: true }));
  let leftMs = timeoutMs;
  let since = performance.now();
  let timer = setTimeout(usedUp, leftMs);
  let stops = 0;
  CLOCKS.set(signal, {
    stop: () => {
      stops += 1;
      if (stops > 1) return;
      clearTimeout(timer);
      leftMs -= performance.now() - since;
    },
    go: () => {
      stops -= 1;
      if (stops > 0) return;
      since = performance.now();
      timer = setTimeout(usedUp, Math.max(0, leftMs));
    },
  });
  return {
    signal,
    clear: () => {
      CLOCKS.delete(signal);
      clearTimeout(timer);
    },
  };
}

/**
 * Waits until it is the work's turn. Meanwhile its clock stands still: with many in line each may wait longer than the time it
 * has, and one that is cut off just when it is served has its place, and what is computed for it, for nothing.
 */
export async function inLine<T>(work: Cancellation, turn: Promise<T>): Promise<T> {
  CLOCKS.get(work)?.stop();
  try {
    return await turn;
  } finally {
    CLOCKS.get(work)?.go();
  }
}
