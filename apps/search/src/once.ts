import { EngineError } from '@slowwave/engine';

/** A cache of the most recently used values. */
export function lately<T>(max: number) {
  const values = new Map<string, T>();
  // A map keeps the order of insertion, so the last entry was used last.
  const put = (key: string, value: T): void => {
    values.delete(key);
    values.set(key, value);
    const [oldest] = values.keys();
    if (values.size > max && oldest !== undefined) values.delete(oldest);
  };
  const get = (key: string): T | undefined => {
    const value = values.get(key);
    if (value !== undefined) put(key, value);
    return value;
  };
  return { get, put };
}

interface Flight<T> {
  readonly landing: Promise<T>;
  readonly abort: AbortController;
  waiting: number;
}

/** Runs work once for several callers. It is aborted when the last of them leaves. */
export function flights<T>() {
  const flying = new Map<string, Flight<T>>();
  const start = (key: string, work: (signal: AbortSignal) => Promise<T>): Flight<T> => {
    const abort = new AbortController();
    const landing = work(abort.signal).finally(() => {
      if (flying.get(key)?.abort === abort) flying.delete(key);
    });
    const flight = { landing, abort, waiting: 0 };
    flying.set(key, flight);
    return flight;
  };
  return async (key: string, cancel: AbortSignal, work: (signal: AbortSignal) => Promise<T>): Promise<T> => {
    const flight = flying.get(key) ?? start(key, work);
    flight.waiting += 1;
    try {
      return await orLeave(flight.landing, cancel);
    } finally {
      flight.waiting -= 1;
      if (flight.waiting === 0) {
        if (flying.get(key) === flight) flying.delete(key);
        flight.abort.abort();
      }
    }
  };
}

async function orLeave<T>(work: Promise<T>, cancel: AbortSignal): Promise<T> {
  work.catch(() => {}); // callers that have left ignore its failure
  if (cancel.aborted) throw left();
  const gone = Promise.withResolvers<never>();
  const leave = (): void => gone.reject(left());
  cancel.addEventListener('abort', leave, { once: true });
  try {
    return await Promise.race([work, gone.promise]);
  } finally {
    cancel.removeEventListener('abort', leave);
  }
}

const left = (): EngineError =>
  new EngineError('nobody waits for this any more', { code: 'cancelled', retryable: true });
