import { EngineError, estimateTokens, type TokenUse } from '@slowwave/engine';
import type { EmbeddingCreateParams } from 'openai/resources/embeddings';
import { MISCONFIGURED } from '../misconfigured.ts';
import type { Place } from './client.ts';
import { type Complaint, complainsAbout, unreadable } from './failure.ts';
import { type KnownManners, shrinking } from './manners.ts';

/**
 * OpenAI's models take 8,191 tokens per text and refuse the whole request for one text that is longer. What a text is
 * about stands in its first pages, so the rest is left out of the vector rather than the text out of the index.
 */
export const TEXT_TOKENS_MAX = 8_000;
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
export function withoutRefused(
  manners: EmbeddingManners,
  complaint: Complaint,
  { dimensions }: Asked,
): EmbeddingManners | null {
  if (dimensions !== null && manners.dimensions && complainsAbout(complaint, /dimension|matryoshka/iu))
    return { ...manners, dimensions: false };
  if (manners.base64 && complainsAbout(complaint, /encoding.?format|base64/iu)) return { ...manners, base64: false };
  return null;
}

export function embeddingRequest(
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
export function firstBatch(texts: readonly string[], textsMax: number): readonly string[] {
  let room = BATCH_TOKENS_MAX;
  const beyond = texts.findIndex((text, i) => {
    room -= Math.min(estimateTokens(text), TEXT_TOKENS_MAX);
    return i > 0 && (i >= textsMax || room < 0);
  });
  return beyond < 0 ? texts : texts.slice(0, beyond);
}

/** A text as a server takes it: never empty, never too long, no half characters. */
export function acceptable(text: string, tokensMax: number, { tooLong, longest }: EmbeddingManners): string {
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

export interface RawVectors {
  /** null: this text is refused for good. */
  readonly vectors: readonly (ArrayLike<number> | null)[];
  readonly usage: TokenUse;
}

/** Reads one vector per text, in the order of the texts. */
export function readVectors(body: object, texts: readonly string[], place: Place): RawVectors {
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
export function unitVector(raw: ArrayLike<number>): Float32Array {
  const vector = Float64Array.from(raw);
  const length = Math.sqrt(vector.reduce((sum, value) => sum + value * value, 0));
  return Float32Array.from(vector, (value) => (length === 0 ? 0 : value / length));
}

/** Vectors of another length than the index was made for can never be compared with its own. */
export function checkDimensions({ vectors }: RawVectors, dimensions: number, place: Place): void {
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
