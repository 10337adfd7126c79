import { type Embedder, EngineError, type MeasuredCall, type Meter, type Reranker, type Tools } from '@slowwave/engine';

interface Metering {
  readonly meter: Pick<Meter, 'call'>;
  readonly tools: Pick<Tools, 'now'>;
}

const NO_TOKENS = { promptTokens: 0, completionTokens: 0 };

/** An embedder whose calls are counted like those of chat models. */
export function meteredEmbedder(embedder: Embedder, metering: Metering): Embedder {
  const { fingerprint: model, dimensions } = embedder;
  const measured = measuring(metering, { kind: 'embed', model });
  return {
    fingerprint: model,
    dimensions,
    embed: (texts, cancel) =>
      measured(
        () => embedder.embed(texts, cancel),
        ({ usage }) => usage,
      ),
  };
}

/** A reranker whose calls are counted like those of chat models; what it reads nobody says. */
export function meteredReranker(reranker: Reranker, { model, ...metering }: Metering & { model: string }): Reranker {
  const measured = measuring(metering, { kind: 'rerank', model });
  return {
    rerank: (question, cancel) =>
      measured(
        () => reranker.rerank(question, cancel),
        () => NO_TOKENS,
      ),
  };
}

/** Counts calls as they end, except those that were cancelled. */
function measuring({ meter, tools }: Metering, called: Pick<MeasuredCall, 'kind' | 'model'>) {
  return async <T>(call: () => Promise<T>, usageOf: (answer: T) => MeasuredCall['usage']): Promise<T> => {
    const startedAt = tools.now();
    const count = (ended: Pick<MeasuredCall, 'failure' | 'usage'>): void =>
      meter.call(null, { ...ended, ...called, cost: 0, startedAt, endedAt: tools.now() });
    try {
      const answer = await call();
      count({ failure: null, usage: usageOf(answer) });
      return answer;
    } catch (error) {
      const failure = error instanceof EngineError ? error.code : 'unknown';
      if (failure !== 'cancelled') count({ failure, usage: NO_TOKENS });
      throw error;
    }
  };
}
