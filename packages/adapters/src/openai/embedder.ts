import {
  type Cancellation,
  type Embedded,
  type Embedder,
  EngineError,
  estimateTokens,
  NEVER,
  NOTHING_USED,
  type TokenUse,
} from '@slowwave/engine';
import type { EmbeddingCreateParams } from 'openai/resources/embeddings';
import { MISCONFIGURED } from '../conventions.ts';
import { ANSWER_BYTES_MAX } from '../system/patient-fetch.ts';
import { type Connection, connect, exchange, fetchWithPlainErrors, type OpenaiOptions, type Place } from './client.ts';
import { type Complaint, complainsAbout, rejection, unquoted, unreadable } from './failure.ts';
import { type KnownManners, shrinking } from './manners.ts';

const TEXT_TOKENS_MIN = 100; // a model that refuses texts this short does not refuse them for their length
const PROBE = 'How long are the vectors of this model?';
/** Of one number of a vector, written out with all its digits; twice that, so that a vector of another length is known as such. */
const NUMBER_BYTES_MAX = 2 * 24;

export interface EmbedderOptions extends OpenaiOptions {
  /** Asked for; null: as many as the model gives. */
  readonly dimensions: number | null;
  /** How many the model gives, where that is known; else it is asked. */
  readonly length?: number | null;
  /** What the server is known to take. Missing: to be found out, once for the life of the process. */
  readonly manners?: KnownManners<EmbeddingManners>;
}

interface Server extends Connection {
  readonly options: EmbedderOptions;
  /** Learnt from refusals. */
  readonly manners: KnownManners<EmbeddingManners>;
  readonly pace: Pace;
  /** null until the model was asked. */
  dimensions: number | null;
}

/** An embedder behind any OpenAI-compatible API. One call is one request of as many of the texts as the server bears at a time. */
export async function openaiEmbedder(options: EmbedderOptions): Promise<Embedder> {
  const { manners = knownEmbeddingManners() } = options;
  const server: Server = {
    ...connect(options),
    ...{
      options,
      manners,
      pace: paceWithin(options.timeoutMs),
      dimensions: options.dimensions ?? options.length ?? null,
    },
  };
  server.dimensions ??= await probe(server);
  const { dimensions } = server;
  return {
    fingerprint: `openai:${options.model}:${dimensions}`,
    dimensions,
    embed: async (texts, cancel) => {
      if (texts.length === 0) return { vectors: [], usage: NOTHING_USED };
      const some = firstBatch(texts, Math.min(server.pace.texts(), server.manners.now().texts));
      const asking: Asking = { cancel, takes: false, refusals: 0 };
      const raw = await request(server, { texts: some, tokensMax: TEXT_TOKENS_MAX, asking });
      checkDimensions(raw, dimensions, server.place);
      return {
        vectors: raw.vectors.map((vector) => vector && unitVector(vector)),
        usage: raw.usage,
      } satisfies Embedded;
    },
  };
}

async function probe(server: Server): Promise<number> {
  const { vectors } = await requestInputs(server, [PROBE], NEVER);
  return vectors[0]?.length ?? 0;
}

/** What one caller wants. */
interface Asking {
  readonly cancel: Cancellation;
  /** The server has taken some text since it was asked. */
  takes: boolean;
  /** How often it has refused some. */
  refusals: number;
}

interface Batch {
  readonly texts: readonly string[];
  readonly tokensMax: number;
  readonly asking: Asking;
}

/**
 * Servers differ in how many texts they take at once, and models in how long these may be: what is refused together is
 * tried in halves, and a single text that is too long is shortened until it is taken. One that is refused alone has no
 * vector: the others have theirs.
 */
async function request(server: Server, batch: Batch): Promise<RawVectors> {
  const { texts, tokensMax, asking } = batch;
  if (texts.length > server.manners.now().texts) return halves(server, batch);
  const inputs = texts.map((text) => acceptable(text, tokensMax, server.manners.now()));
  try {
    const taken = await inTime(server, inputs, asking.cancel);
    asking.takes = true;
    return taken;
  } catch (error) {
    if (!isRefusal(error)) throw error;
    asking.refusals += 1;
    if (texts.length > 1) return halves(server, batch);
    if (error.code !== 'context_too_long' || tokensMax < TEXT_TOKENS_MIN) return refused(server, batch, error);
    return shortened(server, batch, estimateTokens(inputs[0] ?? ''));
  }
}

/** A text that is taken when it is shorter was too long: from now on none of its length is tried. */
async function shortened(server: Server, batch: Batch, tooLong: number): Promise<RawVectors> {
  const { manners, options } = server;
  const longest = Math.floor(Math.min(batch.tokensMax, tooLong) / 2);
  options.log.warn(
    { model: options.model, tokensMax: longest },
    'a text is too long for the embedding model; only its beginning is embedded',
  );
  const raw = await request(server, { ...batch, tokensMax: longest });
  if (!raw.vectors.includes(null)) manners.learn({ ...manners.now(), tooLong, longest });
  return raw;
}

/** Fewer texts are sent next where these took too long. That is no fault of theirs, unless there was but one. */
async function inTime(server: Server, inputs: readonly string[], cancel: Cancellation): Promise<RawVectors> {
  const startedAt = performance.now();
  try {
    const taken = await requestInputs(server, inputs, cancel);
    server.pace.took(inputs.length, performance.now() - startedAt);
    return taken;
  } catch (error) {
    if (!(error instanceof EngineError) || error.code !== 'model_timeout') throw error;
    server.pace.timedOut(inputs.length);
    if (inputs.length === 1) throw error;
    throw new EngineError(error.message, { code: error.code, retryable: true, countsAsTry: false, cause: error });
  }
}

/**
 * Whoever takes no text at all refuses the request, not the text: a wrong key, a wrong model. Then the work waits until
 * somebody has mended that, and nothing is held to be refused for good.
 */
async function refused(server: Server, { asking }: Batch, error: EngineError): Promise<RawVectors> {
  if (!asking.takes) {
    await requestInputs(server, [PROBE], asking.cancel).catch((again: unknown) => {
      throw isRefusal(again) ? new EngineError(error.message, { ...MISCONFIGURED, cause: error }) : again;
    });
    asking.takes = true;
  }
  const { model, log } = server.options;
  log.warn({ model, code: error.code, error: error.message }, 'the embedding model rejects a text; it gets no vector');
  return { vectors: [null], usage: { promptTokens: 0, completionTokens: 0 } };
}

function isRefusal(error: unknown): error is EngineError {
  return (
    error instanceof EngineError && !error.retryable && ['context_too_long', 'model_rejected'].includes(error.code)
  );
}

/**
 * What is refused together and taken in two halves was too much at once: from now on that is not tried again. Where the second
 * half fails the first one is not lost; whoever needs the rest asks for it.
 */
async function halves(server: Server, batch: Batch): Promise<RawVectors> {
  const { texts, asking } = batch;
  const middle = Math.ceil(texts.length / 2);
  const { refusals } = asking;
  const left = await request(server, { ...batch, texts: texts.slice(0, middle) });
  if (left.vectors.length < middle) return left;
  try {
    const right = await request(server, { ...batch, texts: texts.slice(middle) });
    if (asking.refusals === refusals && middle < server.manners.now().texts) learnTexts(server, middle);
    const promptTokens = left.usage.promptTokens + right.usage.promptTokens;
    return { vectors: [...left.vectors, ...right.vectors], usage: { promptTokens, completionTokens: 0 } };
  } catch {
    return left;
  }
}

function learnTexts(server: Server, texts: number): void {
  const { model, log } = server.options;
  server.manners.learn({ ...server.manners.now(), texts });
  log.info({ model, texts }, 'the embedding server accepts fewer texts per request');
}

/** As many bytes as vectors for these texts can take. Before their length is known, any single one has room. */
const bytesOf = (texts: number, { dimensions }: Server): number =>
  Math.max(ANSWER_BYTES_MAX, texts * (dimensions ?? 0) * NUMBER_BYTES_MAX);

async function requestInputs(server: Server, inputs: readonly string[], cancel: Cancellation): Promise<RawVectors> {
  const { client, place, options } = server;
  const sized = client.withOptions({ fetch: fetchWithPlainErrors({ bytesMax: bytesOf(inputs.length, server) }) });
  for (;;) {
    const tried = server.manners.now();
    const body = { ...embeddingRequest(options, inputs, tried), ...options.extraBody };
    const outcome = await exchange({ place, cancel }, (signal) => sized.embeddings.create(body, { signal }));
    if ('body' in outcome) return readVectors(outcome.body, inputs, place);
    const lesser = withoutRefused(tried, outcome.complaint, options);
    if (lesser === null) throw refusal(outcome.complaint, place, inputs);
    server.manners.learn(lesser);
    const reason = unquoted(outcome.complaint, inputs).text;
    options.log.warn(
      { model: options.model, tried, now: lesser, reason },
      'the embedding model rejects a setting; continuing without it',
    );
  }
}

/** What a server says that has chat models alone, or only other embedding models. */
const WITHOUT_EMBEDDINGS = [404, 405, 501];

function refusal(complaint: Complaint, place: Place, inputs: readonly string[]): EngineError {
  if (!WITHOUT_EMBEDDINGS.includes(complaint.status)) return rejection(complaint, place, inputs);
  const { text } = unquoted(complaint, inputs);
  const got = `status ${complaint.status}${text === '' ? '' : ` and "${text}"`}`;
  const message =
    `expected embeddings from ${place.baseUrl} (model ${place.model}), got ${got}; correct SLOWWAVE_EMBEDDING_MODEL, or, ` +
    'if this server has no embeddings, set SLOWWAVE_EMBEDDING_BASE_URL to one that has, or SLOWWAVE_EMBEDDING_MODEL=local';
  return new EngineError(message, { ...MISCONFIGURED, cause: complaint.cause });
}

/** How many texts go into one request: learnt from how long requests take, for the life of the process. */
interface Pace {
  texts(): number;
  /** A request of so many texts was answered after so long. */
  took(texts: number, ms: number): void;
  timedOut(texts: number): void;
}

/** Few enough for a small model on a processor: a request that times out is work for nobody. */
const TEXTS_FIRST = 16;
/** More would hardly be faster anywhere, and lose more when a request fails. */
const TEXTS_MAX = 64;
/** Of the time that a request has: twice as many would still be in time if the server got busier meanwhile. */
const QUICK = 1 / 8;
/** Here the next request is made smaller before it is too late. */
const SLOW = 1 / 2;

export function paceWithin(timeoutMs: number): Pace {
  let texts = TEXTS_FIRST;
  const halve = (count: number): void => {
    texts = Math.max(1, Math.min(texts, Math.floor(count / 2)));
  };
  return {
    texts: () => texts,
    took: (count, ms) => {
      if (ms > SLOW * timeoutMs) halve(count);
      else if (ms < QUICK * timeoutMs && count >= texts) texts = Math.min(TEXTS_MAX, 2 * texts);
    },
    timedOut: halve,
  };
}

/**
 * OpenAI's models take 8,191 tokens per text and refuse the whole request for one text that is longer. What a text is
 * about stands in its first pages, so the rest is left out of the vector rather than the text out of the index.
 */
const TEXT_TOKENS_MAX = 8_000;
const BATCH_TOKENS_MAX = 100_000; // a third of what OpenAI takes: ours is an estimate

/** What a server is known to take: plain data, which may be saved and loaded. It only ever shrinks. */
export interface EmbeddingManners {
  /** That so many dimensions are asked for; false: the model has only its own. */
  readonly dimensions: boolean;
  /** Vectors in base64, a quarter of the size. */
  readonly base64: boolean;
  /** In one request. */
  readonly texts: number;
  /** A text of so many tokens, as Slowwave estimates them, was refused for its length. */
  readonly tooLong: number;
  /** Texts that are too long are cut to so many tokens. */
  readonly longest: number;
}

export const FULL_EMBEDDING_MANNERS: EmbeddingManners = {
  dimensions: true,
  base64: true,
  texts: Number.MAX_SAFE_INTEGER,
  tooLong: Number.MAX_SAFE_INTEGER,
  longest: TEXT_TOKENS_MAX,
};

export const knownEmbeddingManners = (): KnownManners<EmbeddingManners> =>
  shrinking(FULL_EMBEDDING_MANNERS, (a, b) => ({
    dimensions: a.dimensions && b.dimensions,
    base64: a.base64 && b.base64,
    texts: Math.min(a.texts, b.texts),
    tooLong: Math.min(a.tooLong, b.tooLong),
    longest: Math.min(a.longest, b.longest),
  }));

/** What an embedder is asked by. */
interface Asked {
  readonly model: string;
  /** null: as many as the model gives. */
  readonly dimensions: number | null;
}

/** The same manners without what the server complains about; null when that is something else. */
function withoutRefused(
  manners: EmbeddingManners,
  complaint: Complaint,
  { dimensions }: Asked,
): EmbeddingManners | null {
  if (dimensions !== null && manners.dimensions && complainsAbout(complaint, /dimension|matryoshka/iu))
    return { ...manners, dimensions: false };
  if (manners.base64 && complainsAbout(complaint, /encoding.?format|base64/iu)) return { ...manners, base64: false };
  return null;
}

function embeddingRequest(
  { model, dimensions }: Asked,
  texts: readonly string[],
  manners: EmbeddingManners,
): EmbeddingCreateParams {
  return {
    model,
    input: [...texts],
    ...(dimensions !== null && manners.dimensions ? { dimensions } : {}),
    // Left out, the library asks for base64 and decodes it.
    ...(manners.base64 ? {} : { encoding_format: 'float' as const }),
  };
}

/** As many of the first texts as go into one request. */
function firstBatch(texts: readonly string[], textsMax: number): readonly string[] {
  let room = BATCH_TOKENS_MAX;
  const beyond = texts.findIndex((text, i) => {
    room -= Math.min(estimateTokens(text), TEXT_TOKENS_MAX);
    return i > 0 && (i >= textsMax || room < 0);
  });
  return beyond < 0 ? texts : texts.slice(0, beyond);
}

/** A text as a server takes it: never empty, never too long, no half characters. */
function acceptable(text: string, tokensMax: number, { tooLong, longest }: EmbeddingManners): string {
  if (text.trim() === '') return ' ';
  // No character costs more than a token.
  const isTooLong = text.length >= tooLong && estimateTokens(text) >= tooLong;
  return firstTokens(text, isTooLong ? Math.min(tokensMax, longest) : tokensMax).toWellFormed();
}

/** The beginning of a text, up to about so many tokens. */
function firstTokens(text: string, limit: number): string {
  if (text.length <= limit || estimateTokens(text) <= limit) return text;
  let fits = limit;
  let tooLong = text.length;
  while (tooLong - fits > 1) {
    const middle = Math.floor((fits + tooLong) / 2);
    if (estimateTokens(text.slice(0, middle)) <= limit) fits = middle;
    else tooLong = middle;
  }
  return text.slice(0, fits);
}

interface EmbeddingList {
  readonly data?: readonly { readonly index?: number; readonly embedding?: ArrayLike<number> }[] | null;
  readonly usage?: { readonly prompt_tokens?: number } | null;
}

interface RawVectors {
  /** null: this text is refused for good. */
  readonly vectors: readonly (ArrayLike<number> | null)[];
  readonly usage: TokenUse;
}

/** Reads one vector per text, in the order of the texts. */
function readVectors(body: object, texts: readonly string[], place: Place): RawVectors {
  const { data, usage } = body as EmbeddingList;
  const sorted = [...(data ?? [])].sort((a, b) => (a.index ?? 0) - (b.index ?? 0));
  const vectors = sorted.flatMap(({ embedding }) => (isVector(embedding) ? [embedding] : []));
  if (vectors.length !== texts.length) {
    throw unreadable(`${vectors.length} usable vectors for ${texts.length} texts`, place);
  }
  const promptTokens = usage?.prompt_tokens ?? texts.reduce((sum, text) => sum + estimateTokens(text), 0);
  return { vectors, usage: { promptTokens, completionTokens: 0 } };
}

/** The vector at unit length. All zeros stay: they are near nothing. */
function unitVector(raw: ArrayLike<number>): Float32Array {
  const vector = Float64Array.from(raw);
  const length = Math.sqrt(vector.reduce((sum, value) => sum + value * value, 0));
  return Float32Array.from(vector, (value) => (length === 0 ? 0 : value / length));
}

/** Vectors of another length than the index was made for can never be compared with its own. */
function checkDimensions({ vectors }: RawVectors, dimensions: number, place: Place): void {
  const wrong = vectors.find((vector) => vector !== null && vector.length !== dimensions);
  if (wrong === undefined || wrong === null) return;
  const expected = `vectors of ${dimensions} dimensions from ${place.baseUrl} (model ${place.model})`;
  const advice = `set SLOWWAVE_EMBEDDING_DIMENSIONS to ${wrong.length}, or use a model with ${dimensions}; the index is then rebuilt`;
  throw new EngineError(`expected ${expected}, got ${wrong.length}; ${advice}`, MISCONFIGURED);
}

function isVector(value: unknown): value is ArrayLike<number> {
  const list = Array.isArray(value) || value instanceof Float32Array ? value : [];
  return list.length > 0 && list.every((item) => Number.isFinite(item));
}
