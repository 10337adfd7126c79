import type { Failure, LaneId, Millis, TenantId } from '../../words.ts';
import type { ProjectedBatch } from './speech.ts';

/** One memory to be projected. `seq` grows with every change. */
export interface OutboxEntry {
  readonly seq: number;
  readonly memoryId: string;
  readonly tenant: TenantId;
  readonly lane: LaneId;
}

/** Entries, and batches as they were when they were read. */
export interface Projected {
  readonly seqs: readonly number[];
  readonly batches: readonly ProjectedBatch[];
}

/** A lane whose changes could not be projected. It is tried again by itself, so that it holds up no other. */
export interface SetAside {
  readonly lane: LaneId;
  /** Tries in a row that failed. */
  readonly failures: number;
  /** When it is tried again. */
  readonly notBefore: Millis;
  /** Of the last try. */
  readonly failure: Failure;
}

export interface OutboxStore {
  /** Oldest first, without those of lanes that are set aside. */
  pending(limit: number): Promise<readonly OutboxEntry[]>;
  ofLane(lane: LaneId, limit: number): Promise<readonly OutboxEntry[]>;
  /** Sets lanes aside, or those aside already once more. */
  setAside(lanes: readonly SetAside[]): Promise<void>;
  /** They are projected with all others again. */
  takeUp(lanes: readonly LaneId[]): Promise<void>;
  /** Those to be tried again until then, first ones first. */
  aside(until: Millis, limit: number): Promise<readonly SetAside[]>;
  countAside(): Promise<number>;
  ofMemories(memoryIds: readonly string[]): Promise<readonly OutboxEntry[]>;
  ofConsolidation(consolidationId: string): Promise<readonly OutboxEntry[]>;
  /**
   * All this was projected. Batches whose consolidation has nothing left to project become what apply said, with
   * searchableAt. Answers with when each of them was accepted.
   */
  clear(projected: Projected, now: Millis): Promise<readonly Millis[]>;
  /** All memories and applied batches again, for an index that was lost. Returns how many memories. */
  refill(): Promise<number>;
  /** All of one lane again: memories, applied batches, and what counts in its graph. */
  reproject(lane: LaneId): Promise<void>;
  /** Some of the memories that the last refill put there are not projected yet. */
  refilling(): Promise<boolean>;
}
