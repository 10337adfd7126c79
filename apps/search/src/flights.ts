import { EngineError } from '@slowwave/engine';

interface Flight<T> {
  readonly landing: Promise<T>;
  readonly abort: AbortController;
  waiting: number;
}

/** Work that several wait for is done once. Whoever leaves does not take it from the others; the last one ends it. */
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
  work.catch(() => {}); // whoever has left does not hear of its failure
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
  new EngineError('the vector of this query is no longer needed', { code: 'cancelled', retryable: true });
