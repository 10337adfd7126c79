import type { LaneId, Millis } from '../words.ts';
import type { IndexLane, IndexMarker, IndexPoint, Withdrawal } from './search-index.ts';

/** How far a new index is. Kept in the new index itself: lost with it, never without it. */
export interface BuildNote {
  readonly ledgerId: string;
  readonly startedAt: Millis;
  /** The last memory of the first walk that is written for certain; null: none yet. */
  readonly after: string | null;
  /** The last batch of it whose messages are; null: none yet. Batches come after all memories. */
  readonly afterBatch: string | null;
  /** Memories behind it, and points written since the beginning. */
  readonly memories: number;
  readonly points: number;
  /** Lanes among them that were written by their words alone, to be projected once more at the end. Missing: none. */
  readonly byWords?: readonly LaneId[];
}

/** An index in the making beside the one in use. */
export interface IndexBuild {
  /** The note of a build for this ledger and vector space that did not come to its end; null: there is none. */
  begun(ledgerId: string): Promise<BuildNote | null>;
  /** Makes a new, empty one; what builds of others have left is thrown away. */
  begin(note: BuildNote): Promise<void>;
  /** As `upsert` of an index, into the new one, before and after it took over. */
  write(points: readonly IndexPoint[]): Promise<void>;
  /** As `forget` of an index, in the new one. */
  forget(of: IndexLane): Promise<number>;
  /** As `withdraw` of an index. */
  withdraw(withdrawals: readonly Withdrawal[]): Promise<void>;
  note(note: BuildNote): Promise<void>;
  /** From one moment to the next everybody uses the new one. It has no marker yet. Does nothing the second time. */
  takeOver(): Promise<void>;
  /** From now on it is believed; note and old index go. */
  finish(marker: IndexMarker): Promise<void>;
}
