import type { BatchView } from '@slowwave/contracts';
import {
  type Batch,
  failuresView,
  failureView,
  isoOf,
  isoOrNull,
  type MemoryEvent,
  scopeView,
  type UsageTotals,
} from '@slowwave/engine';

type BatchSummary = Omit<BatchView, 'events' | 'failures' | 'usage'>;

export const batchSummary = (batch: Batch): BatchSummary => ({
  id: batch.id,
  ...scopeView(batch.scope),
  state: batch.state,
  stage: batch.stage,
  attempts: batch.attempts,
  error: failureView(batch.failure),
  consolidation_id: batch.consolidationId,
  messages: batch.messageCount,
  priority: batch.priority,
  timings: {
    accepted_at: isoOf(batch.acceptedAt),
    claimed_at: isoOrNull(batch.claimedAt),
    applied_at: isoOrNull(batch.appliedAt),
    searchable_at: isoOrNull(batch.searchableAt),
  },
});

/** Usage is that of the whole consolidation, which other batches may share. */
export const batchView = (batch: Batch, events: readonly MemoryEvent[], usage: UsageTotals | null): BatchView => ({
  ...batchSummary(batch),
  failures: failuresView(batch.failures),
  events: events.map(eventView),
  usage: usage && {
    calls: usage.calls,
    prompt_tokens: usage.promptTokens,
    completion_tokens: usage.completionTokens,
  },
});

/** A deletion or a confirmation makes no text of its own: it shows the one it was about. */
const eventView = (event: MemoryEvent): BatchView['events'][number] => ({
  id: event.id,
  event: event.kind,
  memory_id: event.memoryId,
  memory: event.text ?? event.previous ?? '',
  previous: event.previous,
});
