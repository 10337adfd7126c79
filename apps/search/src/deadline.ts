/** The result of work that was not done in time. */
export const LATE = Symbol('late');

/** The time limit of a request. */
export interface Deadline {
  /** Aborts when the time is up or nobody waits any more. */
  readonly signal: AbortSignal;
  /** The result of work, or LATE. The signal of late work aborts, and its failure is ignored. */
  within<T>(work: (signal: AbortSignal) => Promise<T>): Promise<T | typeof LATE>;
  /** Aborts what is still running. */
  end(): void;
}

/** `timeoutMs` undefined: no limit. `cancel` aborts when the caller disconnects. */
export function deadlineOf(timeoutMs: number | undefined, cancel?: AbortSignal): Deadline {
  const abort = new AbortController();
  const timeUp = Promise.withResolvers<typeof LATE>();
  const end = (): void => {
    timeUp.resolve(LATE);
    abort.abort();
    clearTimeout(timer);
    cancel?.removeEventListener('abort', end);
  };
  const timer = timeoutMs === undefined ? undefined : setTimeout(end, timeoutMs);
  cancel?.addEventListener('abort', end, { once: true });
  if (cancel?.aborted) end();
  return {
    signal: abort.signal,
    within: async <T>(work: (signal: AbortSignal) => Promise<T>): Promise<T | typeof LATE> => {
      if (abort.signal.aborted) return LATE;
      const running = work(abort.signal).catch((error: unknown): typeof LATE => {
        if (abort.signal.aborted) return LATE;
        throw error;
      });
      return Promise.race<T | typeof LATE>([running, timeUp.promise]);
    },
    end,
  };
}

/** The note about something that was omitted because of the time limit. */
export const lateNote = (what: string): string => `${what} omitted: not done within timeout_ms`;
