import { type Embedder, estimateTokens, type Limiter, type Log } from '@slowwave/engine';
import { limited } from './limited.ts';

/** An embedder that is left alone for as long as its provider asks for. */
export const limitedEmbedder = (embedder: Embedder, { limiter, log }: { limiter: Limiter; log: Log }): Embedder => ({
  fingerprint: embedder.fingerprint,
  dimensions: embedder.dimensions,
  embed: (texts, cancel) =>
    limited(
      { model: embedder.fingerprint, limiter, log },
      {
        tokens: texts.reduce((sum, text) => sum + estimateTokens(text), 0),
        cancel,
        ask: () => embedder.embed(texts, cancel),
        used: ({ usage }) => usage.promptTokens,
      },
    ),
});
