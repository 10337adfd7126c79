import type { LaneId, Millis, TenantId } from '../../words.ts';
import type { ToldBatch } from './speech.ts';

/** One memory the index must be told about. `seq` grows with every change. */
export interface OutboxEntry {
  readonly seq: number;
  readonly memoryId: string;
  readonly tenant: TenantId;
  readonly lane: LaneId;
}

/** Entries, and batches as they were when they were read. */
export interface Told {
  readonly seqs: readonly number[];
  readonly batches: readonly ToldBatch[];
}

export interface OutboxStore {
  /** Oldest first. */
  pending(limit: number): Promise<readonly OutboxEntry[]>;
  ofMemories(memoryIds: readonly string[]): Promise<readonly OutboxEntry[]>;
  ofConsolidation(consolidationId: string): Promise<readonly OutboxEntry[]>;
  /**
   * The index was told of all this. Batches whose consolidation has nothing left to tell become what apply said, with
   * searchableAt. Answers with when each of them was accepted.
   */
  clear(told: Told, now: Millis): Promise<readonly Millis[]>;
  /** All memories and applied batches again, for an index that was lost. Returns how many memories. */
  refill(): Promise<number>;
  /** Some of the memories that the last refill put there have not been told yet. */
  refilling(): Promise<boolean>;
}
