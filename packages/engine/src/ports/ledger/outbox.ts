import type { LaneId, Millis, TenantId } from '../../words.ts';

/** One memory the index must be told about. `seq` grows with every change. */
export interface OutboxEntry {
  readonly seq: number;
  readonly memoryId: string;
  readonly tenant: TenantId;
  readonly lane: LaneId;
}

export interface OutboxStore {
  /** Oldest first. */
  pending(limit: number): Promise<readonly OutboxEntry[]>;
  ofMemories(memoryIds: readonly string[]): Promise<readonly OutboxEntry[]>;
  ofConsolidation(consolidationId: string): Promise<readonly OutboxEntry[]>;
  /**
   * Projected. Batches whose consolidation has no entry left become what apply said, with searchableAt. Answers with
   * when each of them was accepted.
   */
  clear(seqs: readonly number[], now: Millis): Promise<readonly Millis[]>;
  /** All memories again, for an index that was lost. Returns how many. */
  refill(): Promise<number>;
  /** Some of what the last refill put there has not been told yet, so that the index misses memories. */
  refilling(): Promise<boolean>;
}
