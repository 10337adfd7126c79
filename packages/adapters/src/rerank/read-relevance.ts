import { EngineError, type Relevance } from '@slowwave/engine';
import { z } from 'zod';

const Item = z.object({ index: z.int().min(0), relevance_score: z.number().optional(), score: z.number().optional() });
const Answer = z.union([
  z.object({ results: z.array(Item) }).transform(({ results }) => results),
  z.object({ data: z.array(Item) }).transform(({ data }) => data),
]);

/** The scores of an answer, each document once; those of documents that were not sent are left out. */
export function readRelevance(body: unknown, documents: number): readonly Relevance[] {
  const parsed = Answer.safeParse(body);
  if (!parsed.success) throw unusable();
  const scores = new Map<number, number>();
  for (const { index, relevance_score, score } of parsed.data) {
    const given = relevance_score ?? score;
    if (index < documents && given !== undefined && Number.isFinite(given) && !scores.has(index))
      scores.set(index, given);
  }
  return [...scores].map(([index, score]) => ({ index, score }));
}

const unusable = (): EngineError =>
  new EngineError(
    'expected the reranker to answer with {"results":[{"index","relevance_score"}]}, got something else; check SLOWWAVE_RERANK_URL',
    { code: 'model_server_error', retryable: true },
  );
