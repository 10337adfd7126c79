import { type Embedder, EngineError, type MeasuredCall, type Meter, type Tools } from '@slowwave/engine';

interface Metering {
  readonly meter: Pick<Meter, 'call'>;
  readonly tools: Pick<Tools, 'now'>;
}

/** An embedder whose calls are counted like those of chat models. */
export function meteredEmbedder(embedder: Embedder, { meter, tools }: Metering): Embedder {
  const { fingerprint: model, dimensions } = embedder;
  return {
    fingerprint: model,
    dimensions,
    embed: async (texts, cancel) => {
      const startedAt = tools.now();
      const tell = (ended: Pick<MeasuredCall, 'failure' | 'usage'>): void =>
        meter.call(null, { ...ended, kind: 'embed', model, cost: 0, startedAt, endedAt: tools.now() });
      try {
        const embedded = await embedder.embed(texts, cancel);
        tell({ failure: null, usage: embedded.usage });
        return embedded;
      } catch (error) {
        const failure = error instanceof EngineError ? error.code : 'unknown';
        if (failure !== 'cancelled') tell({ failure, usage: { promptTokens: 0, completionTokens: 0 } });
        throw error;
      }
    },
  };
}
