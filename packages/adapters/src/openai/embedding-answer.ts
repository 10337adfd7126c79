import { EngineError, estimateTokens, type TokenUse } from '@slowwave/engine';
import type { Place } from './client.ts';
import { MISCONFIGURED, unreadable } from './failure.ts';

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
  const advice = `set SLOWWAVE_EMBEDDING_DIMENSIONS to ${wrong.length}, or use a model with ${dimensions}; the index is then built anew`;
  throw new EngineError(`expected ${expected}, got ${wrong.length}; ${advice}`, MISCONFIGURED);
}

function isVector(value: unknown): value is ArrayLike<number> {
  const list = Array.isArray(value) || value instanceof Float32Array ? value : [];
  return list.length > 0 && list.every((item) => Number.isFinite(item));
}
