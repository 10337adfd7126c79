import { type Cancellation, type Embedded, type Embedder, EngineError } from '@slowwave/engine';

/**
 * How long somebody who waits for an answer waits for vectors. A model that is there needs a tenth of it; what is asked or
 * written is found by its words without.
 */
export const EMBEDDING_LIMIT_MS = 2_000;

/** An embedder for whoever stands and waits: what takes longer has failed. Work in bulk never stands before it. */
export const hurriedEmbedder = (embedder: Embedder, limitMs: number = EMBEDDING_LIMIT_MS): Embedder => ({
  fingerprint: embedder.fingerprint,
  dimensions: embedder.dimensions,
  embed: (texts, cancel) => embedInTime(embedder, { texts, limitMs }, cancel),
});

interface Hurry {
  readonly texts: readonly string[];
  readonly limitMs: number;
}

async function embedInTime(embedder: Embedder, { texts, limitMs }: Hurry, cancel: Cancellation): Promise<Embedded> {
  const hurry = new AbortController();
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(() => {
    late.reject(tooLate(embedder, limitMs));
    hurry.abort();
  }, limitMs);
  const leave = (): void => hurry.abort();
  if (cancel.aborted) leave();
  cancel.addEventListener('abort', leave, { once: true });
  try {
    return await Promise.race([embedder.embed(texts, hurry.signal), late.promise]);
  } finally {
    clearTimeout(timer);
    cancel.removeEventListener('abort', leave);
  }
}

const tooLate = ({ fingerprint }: Embedder, limitMs: number): EngineError =>
  new EngineError(
    `expected vectors from ${fingerprint} within ${limitMs} ms, got none; words are used instead of vectors`,
    { code: 'model_timeout', retryable: true },
  );
