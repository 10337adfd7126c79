import { type Cancellation, type Embedded, type Embedder, EngineError, estimateTokens } from '@slowwave/engine';
import { ANSWER_BYTES_MAX } from '../system/patient-fetch.ts';
import { type Connection, connect, type OpenaiOptions } from './client.ts';
import { checkDimensions, type RawVectors, readVectors, unitVector } from './embedding-answer.ts';
import {
  acceptable,
  embeddingRequest,
  inBatches,
  type Manners,
  TEXT_TOKENS_MAX,
  withoutRefused,
} from './embedding-request.ts';
import { exchange } from './exchange.ts';
import { MISCONFIGURED, rejection } from './failure.ts';
import { fetchWithPlainErrors } from './plain-errors.ts';
import { unquoted } from './unquoted.ts';

const TEXT_TOKENS_MIN = 100; // a model that refuses texts this short does not refuse them for their length
const PROBE = 'How long are the vectors of this model?';
/** Of one number of a vector, written out with all its digits; twice that, so that a vector of another length is told as such. */
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
  log.warn({ model, code: error.code, error: error.message }, 'the embedding model refuses a text: it has no vector');
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
    const body = embeddingRequest(options.model, inputs, tried);
    const outcome = await exchange({ place, cancel }, (signal) => sized.embeddings.create(body, { signal }));
    if ('body' in outcome) return readVectors(outcome.body, inputs, place);
    const lesser = withoutRefused(tried, outcome.complaint);
    if (lesser === null) throw rejection(outcome.complaint, place, inputs);
    server.manners = lesser;
    const reason = unquoted(outcome.complaint, inputs).text;
    options.log.warn(
      { model: options.model, tried, now: lesser, reason },
      'the embedding model refuses a setting; going on without it',
    );
  }
}
