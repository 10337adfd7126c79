import { type Embedder, EngineError, type TenantId, type Tools, type VectorCache } from '@slowwave/engine';
import { flights, lately } from './once.ts';

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
  /** What of a query is embedded; default: all of it. */
  readonly read?: (text: string) => string;
  /** Counts where vectors came from. */
  readonly count: (source: 'memory' | 'shared' | 'model') => void;
  readonly keptMax?: number;
}

/**
 * Embeds queries, the same one only once, also if it is sent several times at once. Vectors are cached per tenant: the
 * response time would otherwise reveal the queries of other tenants.
 */
export function queryVectors({ embedder, shared, tools, count, read = whole, keptMax = KEPT_MAX }: Parts): EmbedQuery {
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
  return async ({ tenant, text: query }, cancel) => {
    const text = read(query);
    const key = tools.hash(JSON.stringify([embedder.fingerprint, tenant, text]));
    const known = kept.get(key);
    if (known !== undefined) count('memory');
    return known ?? fly(key, cancel, (signal) => find(key, text, signal));
  };
}

const whole = (text: string): string => text;

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
