import { type Embedder, EngineError, type TenantId, type Tools, type VectorCache } from '@slowwave/engine';

/** At 1,536 dimensions about 6 MB. */
const KEPT_MAX = 1_000;

interface QueryText {
  readonly tenant: TenantId;
  readonly text: string;
}

/** The vector of a query. Throws EngineError if the model cannot be used, or nobody waits any more. */
export type EmbedQuery = (query: QueryText, cancel: AbortSignal) => Promise<Float32Array>;

interface Parts {
  /** Somebody waits for its result. */
  readonly embedder: Embedder;
  /** The cache that processes share; null: none. */
  readonly shared: VectorCache | null;
  readonly tools: Pick<Tools, 'hash'>;
  /** Counts where vectors came from. */
  readonly count: (source: 'memory' | 'shared' | 'model') => void;
  readonly keptMax?: number;
}

/**
 * Embeds queries, the same one only once, also if it is sent several times at once. Vectors are cached per tenant: the
 * response time would otherwise reveal the queries of other tenants.
 */
export function queryVectors({ embedder, shared, tools, count, keptMax = KEPT_MAX }: Parts): EmbedQuery {
  const kept = lately<Float32Array>(keptMax);
  const fly = flights<Float32Array>();
  const find = async (key: string, text: string, signal: AbortSignal): Promise<Float32Array> => {
    const known = (await shared?.get(key)) ?? null;
    const fits = known !== null && known.length === embedder.dimensions;
    count(fits ? 'shared' : 'model');
    const vector = fits ? known : await embedded(embedder, text, signal);
    kept.put(key, vector);
    if (!fits) shared?.put(key, vector);
    return vector;
  };
  return async ({ tenant, text }, cancel) => {
    const key = tools.hash(JSON.stringify([embedder.fingerprint, tenant, text]));
    const known = kept.get(key);
    if (known !== undefined) count('memory');
    return known ?? fly(key, cancel, (signal) => find(key, text, signal));
  };
}

async function embedded(embedder: Embedder, text: string, signal: AbortSignal): Promise<Float32Array> {
  const { vectors } = await embedder.embed([text], signal);
  const [vector] = vectors;
  if (vector === null) throw refused();
  if (vector !== undefined) return vector;
  throw new EngineError('expected one vector for one text, got none', { code: 'model_rejected', retryable: true });
}

const refused = (): EngineError =>
  new EngineError('the embedding model rejected this query; rephrase it, or use mode "hybrid" or "keyword"', {
    code: 'model_rejected',
    retryable: false,
  });

/** A cache of the most recently used values. */
function lately<T>(max: number) {
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
function flights<T>() {
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
  new EngineError('the vector of this query is no longer needed', { code: 'cancelled', retryable: true });
