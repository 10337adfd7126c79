import {
  type Cancellation,
  type Embedded,
  type Embedder,
  EngineError,
  estimateTokens,
  type TokenUse,
} from '@slowwave/engine';
import type { EmbeddingCreateParams } from 'openai/resources/embeddings';
import { MISCONFIGURED } from '../misconfigured.ts';
import { ANSWER_BYTES_MAX } from '../system/patient-fetch.ts';
import { type Connection, connect, exchange, fetchWithPlainErrors, type OpenaiOptions, type Place } from './client.ts';
import { type Complaint, complainsAbout, rejection, unquoted, unreadable } from './failure.ts';

const TEXT_TOKENS_MIN = 100; // a model that refuses texts this short does not refuse them for their length
const PROBE = 'How long are the vectors of this model?';
/** Of one number of a vector, written out with all its digits; twice that, so that a vector of another length is known as such. */
const NUMBER_BYTES_MAX = 2 * 24;
const NEVER: Cancellation = new AbortController().signal;

export interface EmbedderOptions extends OpenaiOptions {
  /** null: as many as the model gives, asked once at the start. */
  readonly dimensions: number | null;
}

interface Server extends Connection {
  readonly options: EmbedderOptions;
  /** Learnt from refusals, kept for the life of the process. */
  manners: Manners;
  /** null until the model was asked. */
  dimensions: number | null;
}

/** An embedder behind any OpenAI-compatible API. */
export async function openaiEmbedder(options: EmbedderOptions): Promise<Embedder> {
  const manners = { dimensions: options.dimensions, base64: true };
  const server: Server = { ...connect(options), options, manners, dimensions: options.dimensions };
  const dimensions = options.dimensions ?? (await probe(server));
  server.dimensions = dimensions;
  return {
    fingerprint: `openai:${options.model}:${dimensions}`,
    dimensions,
    embed: async (texts, cancel) => {
      const vectors: (Float32Array | null)[] = [];
      let promptTokens = 0;
      const asking: Asking = { cancel, takes: false };
      for (const batch of inBatches(texts)) {
        const raw = await request(server, { texts: batch, tokensMax: TEXT_TOKENS_MAX, asking });
        checkDimensions(raw, dimensions, server.place);
        vectors.push(...raw.vectors.map((vector) => vector && unitVector(vector)));
        promptTokens += raw.usage.promptTokens;
      }
      return { vectors, usage: { promptTokens, completionTokens: 0 } } satisfies Embedded;
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
  const inputs = texts.map((text) => acceptable(text, tokensMax));
  try {
    const taken = await requestInputs(server, inputs, asking.cancel);
    asking.takes = true;
    return taken;
  } catch (error) {
    if (!isRefusal(error)) throw error;
    if (texts.length > 1) return halves(server, batch);
    if (error.code !== 'context_too_long' || tokensMax < TEXT_TOKENS_MIN) return refused(server, batch, error);
    const shorter = Math.floor(Math.min(tokensMax, estimateTokens(inputs[0] ?? '')) / 2);
    server.options.log.warn(
      { model: server.options.model, tokensMax: shorter },
      'a text is too long for the embedding model; only its beginning is embedded',
    );
    return request(server, { ...batch, tokensMax: shorter });
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

async function halves(server: Server, batch: Batch): Promise<RawVectors> {
  const middle = Math.ceil(batch.texts.length / 2);
  const left = await request(server, { ...batch, texts: batch.texts.slice(0, middle) });
  const right = await request(server, { ...batch, texts: batch.texts.slice(middle) });
  const promptTokens = left.usage.promptTokens + right.usage.promptTokens;
  return { vectors: [...left.vectors, ...right.vectors], usage: { promptTokens, completionTokens: 0 } };
}

/** As many bytes as vectors for these texts can take. Before their length is known, any single one has room. */
const bytesOf = (texts: number, { dimensions }: Server): number =>
  Math.max(ANSWER_BYTES_MAX, texts * (dimensions ?? 0) * NUMBER_BYTES_MAX);

async function requestInputs(server: Server, inputs: readonly string[], cancel: Cancellation): Promise<RawVectors> {
  const { client, place, options } = server;
  const sized = client.withOptions({ fetch: fetchWithPlainErrors(bytesOf(inputs.length, server)) });
  for (;;) {
    const tried = server.manners;
    const body = { ...options.extraBody, ...embeddingRequest(options.model, inputs, tried) };
    const outcome = await exchange({ place, cancel }, (signal) => sized.embeddings.create(body, { signal }));
    if ('body' in outcome) return readVectors(outcome.body, inputs, place);
    const lesser = withoutRefused(tried, outcome.complaint);
    if (lesser === null) throw refusal(outcome.complaint, place, inputs);
    server.manners = lesser;
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

/**
 * OpenAI's models take 8,191 tokens per text and refuse the whole request for one text that is longer. What a text is
 * about stands in its first pages, so the rest is left out of the vector rather than the text out of the index.
 */
const TEXT_TOKENS_MAX = 8_000;
const BATCH_TEXTS_MAX = 256; // some servers stop at 256, OpenAI at 2,048
const BATCH_TOKENS_MAX = 100_000; // a third of what OpenAI takes: ours is an estimate

/** What a server is known to take beside the texts. */
interface Manners {
  readonly dimensions: number | null;
  /** Vectors in base64, a quarter of the size. */
  readonly base64: boolean;
}

/** The same manners without what the server complains about; null when that is something else. */
function withoutRefused(manners: Manners, complaint: Complaint): Manners | null {
  if (manners.dimensions !== null && complainsAbout(complaint, /dimension|matryoshka/iu))
    return { ...manners, dimensions: null };
  if (manners.base64 && complainsAbout(complaint, /encoding.?format|base64/iu)) return { ...manners, base64: false };
  return null;
}

function embeddingRequest(model: string, texts: readonly string[], manners: Manners): EmbeddingCreateParams {
  return {
    model,
    input: [...texts],
    ...(manners.dimensions === null ? {} : { dimensions: manners.dimensions }),
    // Left out, the library asks for base64 and decodes it.
    ...(manners.base64 ? {} : { encoding_format: 'float' as const }),
  };
}

/** Texts in groups that a server takes at once, in order. */
function inBatches(texts: readonly string[]): string[][] {
  const batches: string[][] = [];
  let room = 0;
  for (const text of texts) {
    const tokens = Math.min(estimateTokens(text), TEXT_TOKENS_MAX);
    const last = batches.at(-1);
    if (last === undefined || last.length === BATCH_TEXTS_MAX || tokens > room) {
      batches.push([text]);
      room = BATCH_TOKENS_MAX - tokens;
    } else {
      last.push(text);
      room -= tokens;
    }
  }
  return batches;
}

/** A text as a server takes it: never empty, never too long, no half characters. */
function acceptable(text: string, tokensMax: number): string {
  return text.trim() === '' ? ' ' : firstTokens(text, tokensMax).toWellFormed();
}

/** The beginning of a text, up to about so many tokens. */
function firstTokens(text: string, limit: number): string {
  if (text.length <= limit || estimateTokens(text) <= limit) return text; // no character costs more than a token
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
