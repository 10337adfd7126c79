import type { ReviewView } from '@slowwave/contracts';
import { isoOf, isoOrNull, type Review, scopeView } from '@slowwave/engine';

export const reviewView = ({ operation, ...review }: Review): ReviewView => ({
  id: review.id,
  ...scopeView(review.scope),
  state: review.state,
  event: operation.kind,
  // The id a new memory will have means nothing before it is there.
  memory_id: operation.kind === 'ADD' && review.state !== 'approved' ? null : operation.memoryId,
  before: operation.before,
  after: operation.after,
  reason: operation.reason,
  fact: {
    id: operation.fact,
    text: operation.factText,
    quote: operation.details?.quote ?? null,
    source_ids: [...operation.sourceIds],
  },
  consolidation_id: review.consolidationId,
  said_at: isoOf(operation.saidAt.at),
  valid_from: isoOf(operation.validFrom),
  note: review.note,
  created_at: isoOf(review.createdAt),
  settled_at: isoOrNull(review.settledAt),
});
