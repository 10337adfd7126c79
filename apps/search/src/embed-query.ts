import { type Embedder, EngineError } from '@slowwave/engine';

/** A question is answered or refused within this: a chat waits for it. */
const QUERY_LIMIT_MS = 10_000;

/** The vector of one question. */
export const embedQuery =
  (embedder: Embedder) =>
  async (text: string): Promise<Float32Array> => {
    const { vectors } = await embedder.embed([text], AbortSignal.timeout(QUERY_LIMIT_MS));
    const [vector] = vectors;
    if (vector !== undefined) return vector;
    throw new EngineError('expected one vector for one text, got none', { code: 'model_rejected', retryable: true });
  };
