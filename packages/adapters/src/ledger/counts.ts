import type { BatchCounts, BatchState, OwnerSummary, UsageTotals } from '@slowwave/engine';
import { type OwnerColumns, ownerFrom } from './rows/scope.ts';

/** What is counted per tenant because its rows may be gone (erased) or are too many to add up. */
export type CounterName = 'accepted' | 'erased' | 'calls' | 'failed_calls' | 'prompt_tokens' | 'completion_tokens';

/** The value of a tenant's counter; 0 for one that nothing was added to. */
export type Counters = (name: CounterName) => number;

export function countersFrom(rows: readonly { readonly name: string; readonly value: number }[]): Counters {
  const values = new Map(rows.map((row) => [row.name, row.value]));
  return (name) => values.get(name) ?? 0;
}

/** The states are counted from the rows, not from counters: a lost batch must show as a gap. */
export function batchCountsFrom(
  rows: readonly { readonly state: BatchState; readonly batches: number }[],
  counters: Counters,
): BatchCounts {
  const of = (state: BatchState): number => rows.find((row) => row.state === state)?.batches ?? 0;
  return {
    accepted: counters('accepted'),
    pending: of('pending'),
    consolidating: of('consolidating'),
    consolidated: of('consolidated'),
    empty: of('empty'),
    parked: of('parked'),
    undone: of('undone'),
    erased: counters('erased'),
  };
}

export const usageFrom = (counters: Counters): UsageTotals => ({
  calls: counters('calls'),
  failedCalls: counters('failed_calls'),
  promptTokens: counters('prompt_tokens'),
  completionTokens: counters('completion_tokens'),
});

export const NO_USAGE: UsageTotals = { calls: 0, failedCalls: 0, promptTokens: 0, completionTokens: 0 };

export interface OwnerRow extends OwnerColumns {
  readonly id: string;
  readonly memories: number;
  readonly pending: number;
  readonly created_at: number;
  readonly updated_at: number;
}

export const ownerSummaryFrom = (row: OwnerRow): OwnerSummary => ({
  owner: ownerFrom(row),
  memories: row.memories,
  pending: row.pending,
  createdAt: row.created_at,
  updatedAt: row.updated_at,
});
