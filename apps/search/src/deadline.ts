/** What was not done in time. */
export const LATE = Symbol('late');

/** The time that an answer may take. */
export interface Deadline {
  /** Aborts when the time is up, or what asked has its answer or is gone: nobody waits for what is still done then. */
  readonly signal: AbortSignal;
  /** What comes of work, or LATE. Work that is late is told by its signal, and its failure is nobody's concern. */
  within<T>(work: (signal: AbortSignal) => Promise<T>): Promise<T | typeof LATE>;
  /** Ends what is still going on. */
  end(): void;
}

/** `timeoutMs` undefined: as long as it takes. `cancel`: who asks may leave. */
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

/** How what was left out for the time limit is told. */
export const lateNote = (what: string): string => `${what} omitted: not done within timeout_ms`;
