import {
  type Embedder,
  EngineError,
  estimateTokens,
  HASH_VECTOR_VERSION,
  hashVector,
  type Tools,
} from '@slowwave/engine';
import { EXPANSION_VERSION, expand } from './expand.ts';

const DIMENSIONS = 1_024;

/** Vectors of hashed words, for trying out and for tests: no key, no network, the same on every machine. */
export function builtinEmbedder({ breathe }: Pick<Tools, 'breathe'>, dimensions: number = DIMENSIONS): Embedder {
  return {
    fingerprint: `builtin:${HASH_VECTOR_VERSION}.${EXPANSION_VERSION}:${dimensions}`,
    dimensions,
    embed: async (texts, cancel) => {
      if (cancel.aborted) {
        throw new EngineError('embedding was cancelled before it began', { code: 'cancelled', retryable: true });
      }
      const vectors: Float32Array[] = [];
      for (const text of texts) {
        vectors.push(hashVector(expand(text), dimensions));
        await breathe();
      }
      return {
        vectors,
        usage: { promptTokens: texts.reduce((total, text) => total + estimateTokens(text), 0), completionTokens: 0 },
      };
    },
  };
}
