import type { Failure, JsonObject, LaneId, Memory, Message, Millis, Owner, Scope, TenantId } from '../../words.ts';
import type { SummaryRefresh } from '../schedule.ts';
import type { Credit } from './feedback.ts';
import type { Turn } from './lanes.ts';

/** One memory to be projected. `seq` grows with every change. */
export interface OutboxEntry {
  readonly seq: number;
  readonly memoryId: string;
  readonly tenant: TenantId;
  readonly lane: LaneId;
}

/** More memories are read in several goes: what one brings comes to a thread in one piece. */
export const LEFT_MAX = 64;

/** What one consolidation leaves to do. */
export interface LeftToDo {
  readonly entries: readonly OutboxEntry[];
  /** Those of the entries, as they are now, without those of an owner who is being erased; null: more than LEFT_MAX. */
  readonly memories: readonly Memory[] | null;
  /** What those memories came from, and whether their lane stands; null: they are more. */
  readonly said: SaidInLane | null;
  /** What the outcomes of answers credit to those memories; null: they are more. */
  readonly credits: readonly Credit[] | null;
  readonly batches: readonly SpokenBatch[];
  /** The refresh of the turn's scope, where enough messages were consolidated that its summary does not cover. */
  readonly summary: SummaryRefresh | null;
}

/** What was applied between two moments, which is left to whoever applied it: they are about to project it themselves. */
export interface JustApplied {
  readonly after: Millis;
  /** A clock that is ahead holds nothing back. */
  readonly upTo: Millis;
}

/** Entries, and batches as they were when they were read. */
export interface Projected {
  readonly seqs: readonly number[];
  readonly batches: readonly ProjectedBatch[];
  /** What that was made from; null: whatever became of it. */
  readonly from: MadeFrom | null;
}

/** What points of one lane were made from, as it was when it was read. */
export interface MadeFrom {
  readonly lane: LaneId;
  readonly messageIds: readonly string[];
  /** How many of these messages, and of those before each of them, still said something: retention removes what they say. */
  readonly saying: number;
  /** What the outcomes of answers had credited to these memories. */
  readonly memoryIds: readonly string[];
  readonly credits: readonly Credit[];
}

/** A lane whose changes could not be projected. It is tried again by itself, so that it holds up no other. */
export interface SetAside {
  readonly lane: LaneId;
  /** Tries in a row that failed. */
  readonly failures: number;
  /** When it will be retried. */
  readonly notBefore: Millis;
  /** Of the last try. */
  readonly failure: Failure;
}

export interface OutboxStore {
  /** Oldest first, without those of lanes that are set aside, or of consolidations that were just applied. */
  pending(limit: number, left?: JustApplied): Promise<readonly OutboxEntry[]>;
  ofLane(lane: LaneId, limit: number): Promise<readonly OutboxEntry[]>;
  /** Sets lanes aside, or those aside already once more. */
  setAside(lanes: readonly SetAside[]): Promise<void>;
  /** They are projected with all others again. */
  takeUp(lanes: readonly LaneId[]): Promise<void>;
  /** Those to be tried again until then, first ones first. */
  aside(until: Millis, limit: number): Promise<readonly SetAside[]>;
  countAside(): Promise<number>;
  ofMemories(memoryIds: readonly string[]): Promise<readonly OutboxEntry[]>;
  /** What a consolidation left to do when it was applied, all of one moment. A summary is due after so many messages; null: never. */
  ofConsolidation(turn: Turn, summaryEvery: number | null): Promise<LeftToDo>;
  /**
   * All this was projected. Batches whose consolidation has nothing left to project become what apply said, with
   * searchableAt. Answers with when each of them was accepted; null: the lane was cut off since, or less is left of what all
   * this was made from, and nothing is cleared.
   */
  clear(projected: Projected, now: Millis): Promise<readonly Millis[] | null>;
  /** All memories and applied batches again, for an index that was lost. Returns how many memories. */
  refill(): Promise<number>;
  /** All of one lane again: memories, applied batches, and what counts in its graph. */
  reproject(lane: LaneId): Promise<void>;
  /** Some of the memories that the last refill put there are not projected yet. */
  refilling(): Promise<boolean>;
}

/** A message and the one that was said before it in its conversation. */
export interface SaidMessage {
  readonly message: Message;
  /** The nearest earlier one of the scope that a user or an assistant said, resent copies left out; null: there is none. */
  readonly before: Message | null;
}

/** A message of a batch, and what was said beside it in its conversation, whichever batches that is of. */
export interface SpokenMessage extends SaidMessage {
  /** The one before the one before. */
  readonly earlier: Message | null;
  /** The next one that a user or an assistant said, once its batch counts. */
  readonly next: Message | null;
}

export interface SaidInLane {
  /** The lane is not cut off from its owner. */
  readonly stands: boolean;
  readonly said: readonly SaidMessage[];
}

/** What a batch says that is applied, or was before it was replayed, for the index. */
export interface SpokenBatch {
  readonly id: string;
  readonly tenant: TenantId;
  readonly lane: LaneId;
  readonly owner: Owner;
  readonly scope: Scope;
  /**
   * 1 when it is first applied. Goes up with everything that changes what the index shows of it: it is undone, redone,
   * replayed or applied again, the index was lost, and what it says, or what was said beside it, is removed, hidden or
   * there again.
   */
  readonly revision: number;
  /** false: it is undone, waits again since, or what it said was removed. Its messages are found no more. */
  readonly counts: boolean;
  /** Whether the index has it as it is now. */
  readonly projected: boolean;
  readonly metadata: JsonObject;
  readonly acceptedAt: Millis;
  /** When it was applied, or its revision went up since; not where the index was lost. */
  readonly changedAt: Millis;
  /** When what it says is to be shown no more. */
  readonly expiresAt: Millis | null;
  /** In the order of the lane. */
  readonly messages: readonly SpokenMessage[];
  /**
   * The batch that this one goes on, with nothing but its last message, which is found by the first of this one: it is
   * projected again with this one. null: there is none that counts, or not in this conversation.
   */
  readonly goesOn: Omit<SpokenBatch, 'goesOn'> | null;
}

/** A batch that was projected, as it was then. */
export interface ProjectedBatch {
  readonly id: string;
  readonly revision: number;
  /** How many of its messages the index has. */
  readonly points: number;
}

/** A part of all applied batches, in the order of their ids. */
interface SpeechPage {
  /** The last one of the page before; null: from the first on. */
  readonly after: string | null;
  readonly limit: number;
  /** Only those applied or changed since; null: all. */
  readonly changedSince: Millis | null;
}

/** What was said, as it is projected. Batches that were never applied are not part of it: they may never be. */
export interface SpeechStore {
  /** Existing messages of a lane by their ids, any order; those of other lanes are left out. And whether the lane stands. */
  said(lane: LaneId, ids: readonly string[]): Promise<SaidInLane>;
  /** Applied batches that are still to be projected; those of a lost index come last. Without the same ones as `pending`. */
  unprojected(limit: number, left?: JustApplied): Promise<readonly SpokenBatch[]>;
  unprojectedIn(lane: LaneId, limit: number): Promise<readonly SpokenBatch[]>;
  /** Those of these consolidations. */
  unprojectedOf(consolidationIds: readonly string[]): Promise<readonly SpokenBatch[]>;
  /** The applied ones of these batches. */
  batches(ids: readonly string[]): Promise<readonly SpokenBatch[]>;
  /** Of all tenants, without those of owners that are being erased. */
  every(page: SpeechPage): Promise<readonly SpokenBatch[]>;
  /** Memories that came from messages of these batches, or from what was said next after one of them. */
  hearers(batchIds: readonly string[]): Promise<readonly string[]>;
  /** How many messages the index has of a tenant. */
  points(tenant: TenantId): Promise<number>;
}
