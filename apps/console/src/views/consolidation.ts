import type { ConsolidationView } from '@slowwave/contracts';
import {
  type Consolidation,
  failureView,
  isoOf,
  isoOrNull,
  type Plan,
  type StoredAnswer,
  scopeView,
} from '@slowwave/engine';
import type { z } from 'zod';
import { planView } from './plan.ts';

export const consolidationSummary = (consolidation: Consolidation) => ({
  id: consolidation.id,
  ...scopeView(consolidation.scope),
  state: consolidation.state,
  batch_ids: [...consolidation.batchIds],
  attempts: consolidation.attempts,
  error: failureView(consolidation.failure),
  created_at: isoOf(consolidation.createdAt),
  applied_at: isoOrNull(consolidation.appliedAt),
  removed_at: isoOrNull(consolidation.removedAt ?? null),
});

export const consolidationView = (
  consolidation: Consolidation,
  plan: Plan | null,
  answers: readonly StoredAnswer[],
): z.infer<typeof ConsolidationView> => ({
  ...consolidationSummary(consolidation),
  plan: plan && planView(plan),
  answers: answers.map(answerView),
});

const answerView = (answer: StoredAnswer) => ({
  step: answer.step,
  model: answer.model,
  output: answer.text,
  prompt_tokens: answer.usage.promptTokens,
  completion_tokens: answer.usage.completionTokens,
  at: isoOf(answer.at),
});
