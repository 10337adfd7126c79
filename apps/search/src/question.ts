import { type PostSearch, textOf } from '@slowwave/contracts';
import {
  type Asker,
  asEngineError,
  type Embedder,
  EngineError,
  type Filter,
  type Lane,
  type LaneId,
  type LeaningQuestion,
  ownerOf,
  type Reader,
  readFilter,
  rewriteQuestion,
  type ScopeIds,
  scopeOf,
  type TenantId,
  type Tools,
  terms,
  type VectorCache,
} from '@slowwave/engine';
import { principalOf, problem } from '@slowwave/http';
import type { SearchDeps } from './deps.ts';

export interface Question {
  readonly tenant: TenantId;
  readonly body: PostSearch;
  /** The parsed filter of the body. */
  readonly where: Filter | null;
  /** The app that the key is bound to; null: none. */
  readonly app: string | null;
  /** The lane to search; nothing is found once it has ended. Default: the current one. */
  readonly lane?: LaneId | null;
  /** The owner's current lane, where it is known already. */
  readonly living?: Promise<Lane | null>;
  /** Whom calls of models are counted to. */
  readonly asker: Asker;
  /** Aborts when the caller disconnects. */
  readonly cancel?: AbortSignal;
}

/** A question with the owner's current lane. */
export interface Asked extends Question {
  /** null: the owner has none. */
  readonly living: Promise<Lane | null>;
}

/**
 * The owner's current lane. The index may still contain data of an erased user of the same id, and only the ledger can
 * distinguish the two. So nothing is searched while the ledger is unavailable.
 */
export async function livingLane(
  { ledger }: Pick<SearchDeps, 'ledger'>,
  { tenant, body, lane }: Pick<Question, 'tenant' | 'lane'> & { readonly body: ScopeIds },
): Promise<Lane | null> {
  const found = await ledger.lanes.find(tenant, ownerOf(scopeOf(body)));
  return found !== null && (lane === undefined || lane === found.id) ? found : null;
}

export const askerOf = (request: Parameters<typeof principalOf>[0], { app_id }: ScopeIds): Asker => ({
  appId: app_id ?? null,
  keyId: principalOf(request).keyId,
});

/** Characters of a query that are split into words: splitting 20,000 would block all others for 30 ms. */
const WORDS_OF_MAX = 4_000;

/** The terms of a query. */
export const wordsOf = (query: string): readonly string[] => terms(query.slice(0, WORDS_OF_MAX));

/** The filter of a body; null without one. */
export const filterOf = (json: unknown): Filter | null => (json === undefined ? null : readFilter(json));

export const emptyQuery = () =>
  problem(
    'invalid_request',
    'expected text in query, got none; use GET /v1/memories to list memories without a query',
    {
      errors: [{ path: 'query', message: 'expected text, got none' }],
    },
  );

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

/** Every search ends, and to make one takes as long as to check a body. */
const ENDED = new DOMException('This operation was aborted', 'AbortError');

/** `timeoutMs` undefined: no limit. `cancel` aborts when the caller disconnects. */
export function deadlineOf(timeoutMs: number | undefined, cancel?: AbortSignal): Deadline {
  const abort = new AbortController();
  const timeUp = Promise.withResolvers<typeof LATE>();
  const end = (): void => {
    timeUp.resolve(LATE);
    abort.abort(ENDED);
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

// What models are asked about a query, each thing once: for its vector, and to rewrite it.

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
      if (flight.waiting === 0 && flying.get(key) === flight) {
        flying.delete(key);
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
  new EngineError('no request is waiting for this any more', { code: 'cancelled', retryable: true });

/** Makes a question stand on its own. Throws EngineError if the model cannot be asked. */
export type Rewrite = (
  asked: LeaningQuestion & Pick<Reader, 'tenant' | 'owner' | 'asker'>,
  cancel: AbortSignal,
) => Promise<string>;

/** A client that repeats a turn pays once. */
const REWRITTEN_MAX = 500;

/** Asks the chat model, about the same only once, also if it is asked several times at once. */
export function rewriting(deps: Reader['deps'] & { readonly tools: Pick<Tools, 'hash'> }): Rewrite {
  const kept = lately<string>(REWRITTEN_MAX);
  const fly = flights<string>();
  return async ({ tenant, owner, asker, ...asked }, cancel) => {
    const key = deps.tools.hash(JSON.stringify([tenant, owner, asked]));
    const ask = async (signal: AbortSignal): Promise<string> => {
      const rewritten = await rewriteQuestion({ deps, tenant, owner, asker, cancel: signal }, asked);
      kept.put(key, rewritten);
      return rewritten;
    };
    return kept.get(key) ?? fly(key, cancel, ask);
  };
}

/** The time limit of rewriting, also for searches without a time limit: nothing is searched for meanwhile. */
const LIMIT_MS = 10_000;

interface Rewritten {
  readonly question: Question;
  /** What is searched for, where that was asked for and done. */
  readonly query?: string;
  /** Why it was not. */
  readonly missing: readonly string[];
}

/** The question as it is searched for. If rewriting fails or is late, that is the question as it stands. */
export async function rewritten(deps: SearchDeps, question: Question, deadline: Deadline): Promise<Rewritten> {
  const { tenant, body, asker } = question;
  const { rewrite } = deps;
  if (body.rewrite !== true || rewrite === null) return { question, missing: [] };
  const said = (body.messages ?? []).map(({ role, content }) => ({ role, text: textOf(content) }));
  const asked = { tenant, owner: ownerOf(scopeOf(body)), asker, question: body.query, said };
  try {
    const query = await deadline.within((signal) =>
      rewrite(asked, AbortSignal.any([signal, AbortSignal.timeout(LIMIT_MS)])),
    );
    if (query === LATE) return { question, missing: [lateNote('rewriting the query')] };
    return { question: { ...question, body: { ...body, query } }, query, missing: [] };
  } catch (error) {
    deps.log.warn({ err: error }, 'could not rewrite a query');
    return { question, missing: [`the query was not rewritten (${asEngineError(error).code})`] };
  }
}

/** Refuses a request to rewrite where nothing can. */
export function refuseWithoutRewriter({ rewrite }: SearchDeps, body: Pick<PostSearch, 'rewrite'>): void {
  if (body.rewrite !== true || rewrite !== null) return;
  throw problem(
    'not_configured',
    'no chat model is configured to rewrite the query; set SLOWWAVE_CHAT_MODEL (the builtin model cannot do it), or remove rewrite',
    { errors: [{ path: 'rewrite', message: 'no chat model is configured' }] },
  );
}
