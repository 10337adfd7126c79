import { EngineError, type MeasuredCall, type Meter, type Reranker, type Tools } from '@slowwave/engine';

interface Metering {
  readonly meter: Pick<Meter, 'call'>;
  readonly tools: Pick<Tools, 'now'>;
  readonly model: string;
}

const NO_TOKENS = { promptTokens: 0, completionTokens: 0 };

/** A reranker whose calls are counted like those of chat models; what it reads nobody says. */
export const meteredReranker = (reranker: Reranker, { meter, tools, model }: Metering): Reranker => ({
  rerank: async (question, cancel) => {
    const startedAt = tools.now();
    const tell = (failure: MeasuredCall['failure']): void =>
      meter.call(null, { kind: 'rerank', model, failure, usage: NO_TOKENS, cost: 0, startedAt, endedAt: tools.now() });
    try {
      const relevance = await reranker.rerank(question, cancel);
      tell(null);
      return relevance;
    } catch (error) {
      const failure = error instanceof EngineError ? error.code : 'unknown';
      if (failure !== 'cancelled') tell(failure);
      throw error;
    }
  },
});
