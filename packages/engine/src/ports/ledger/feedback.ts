import type { HeldOperation } from '../../plan.ts';
import type { JsonObject, LaneId, MemoryEvent, Millis, Owner, Scope, TenantId } from '../../words.ts';
import type { Page, Paged } from './ledger.ts';
import type { MemoryChange, Tombstone } from './memories.ts';

/** What an answer told: a version of a memory, a message as it was said, or a relation, by the statement that began it. */
export type Told =
  | { readonly kind: 'memory'; readonly id: string; readonly version: number }
  | { readonly kind: 'message' | 'relation'; readonly id: string };

type ReceiptOutcome = 'good' | 'bad';

/** What one answer told to whom: ids and versions, never texts of memories. */
export interface Receipt {
  readonly id: string;
  readonly tenant: TenantId;
  /** The lane that was asked; with its owner the receipt goes. */
  readonly lane: LaneId;
  readonly at: Millis;
  readonly route: 'search' | 'context' | 'recall';
  /** The ids that were asked with. */
  readonly scope: Scope;
  /** Whether a key for that one app asked. */
  readonly ownApp: boolean;
  /** Masked and short; null: nothing was asked, or something was told that is forgotten since. */
  readonly question: string | null;
  /** null: none, too long to keep, or gone with the question. */
  readonly filters: JsonObject | null;
  /** The moment that was asked for; null: now. */
  readonly asOf: Millis | null;
  /** How far the ledger had come: the number of the lane's last message. */
  readonly position: number;
  /** In the order in which it was told. */
  readonly told: readonly Told[];
  /** What became of the answer, as the caller says; null: nobody said. */
  readonly outcome: ReceiptOutcome | null;
}

export type NewReceipt = Omit<Receipt, 'outcome'>;

/** What answers that told a version led to, in thousandths of an answer: of one answer each gets a share by its place. */
export interface Credit {
  readonly memoryId: string;
  readonly version: number;
  readonly good: number;
  readonly bad: number;
}

/** A credit as it stands, and when it last changed. */
export interface Credited extends Credit {
  readonly at: Millis;
}

/** What was told to whom. Kept for days, and never needed to answer. */
export interface ReceiptStore {
  /**
   * All of one lane, so that nobody else has to wait for it. Those of owners who are being erased are left out, one that is there
   * already stays as it is, and the question of one that told what is forgotten meanwhile is not kept.
   */
  append(receipts: readonly NewReceipt[]): Promise<void>;
  get(tenant: TenantId, id: string): Promise<Receipt | null>;
  /** Those that told a memory, in whatever version; newest first. */
  ofMemory(tenant: TenantId, memoryId: string, page: Page): Promise<Paged<Receipt>>;
  /** The newest ones of all tenants that have a question. */
  asked(limit: number): Promise<readonly Receipt[]>;
  /**
   * The outcome replaces the one before, with what was credited for it, and memories whose credit it changes are to be projected. null:
   * the tenant has no such receipt.
   */
  judge(
    tenant: TenantId,
    id: string,
    judgement: { readonly outcome: ReceiptOutcome | null; readonly now: Millis },
  ): Promise<Receipt | null>;
  /** Of all versions of these memories that were credited. */
  credits(memoryIds: readonly string[]): Promise<readonly Credited[]>;
  /** At most `limit` of those from before a moment go. Returns how many. */
  drop(before: Millis, limit: number): Promise<number>;
}

/**
 * A review's life: pending from the transaction that applies its plan, until settle ends it once and for ever as
 *   approved   its operation was carried out in the same transaction
 *   rejected   a person refused it
 *   stale      it was approved too late: what it would change is gone, or must not change any more
 */
export type ReviewState = 'pending' | 'approved' | 'rejected' | 'stale';

/** An operation that waits, or waited, for a person. */
export interface Review {
  readonly id: string;
  readonly tenant: TenantId;
  readonly lane: LaneId;
  readonly owner: Owner;
  readonly scope: Scope;
  /** The consolidation whose plan has it; null: it was proposed by a rating. */
  readonly consolidationId: string | null;
  readonly operation: HeldOperation;
  readonly state: ReviewState;
  /** Why it went stale; null else. */
  readonly note: string | null;
  readonly createdAt: Millis;
  readonly settledAt: Millis | null;
}

/** The states of those that nobody has to decide any more. */
export const DECIDED = ['approved', 'rejected', 'stale'] as const satisfies readonly ReviewState[];

interface ReviewFilter {
  readonly state?: ReviewState;
  readonly userId?: string;
  readonly memoryId?: string;
  readonly lane?: LaneId;
}

export type Settlement =
  | {
      readonly state: 'approved';
      readonly change: MemoryChange;
      readonly tombstones: readonly Tombstone[];
      readonly now: Millis;
    }
  | { readonly state: 'rejected'; readonly now: Millis }
  | { readonly state: 'stale'; readonly note: string; readonly now: Millis };

export type Settled =
  | { readonly kind: 'settled' }
  /** It is not pending any more: nothing was changed. */
  | { readonly kind: 'over' }
  /** The memory is not at the expected revision: nothing was changed. */
  | { readonly kind: 'conflict'; readonly memoryIds: readonly string[] };

export type RewrittenReview = Pick<Review, 'id' | 'operation' | 'note'>;

export interface ReviewStore {
  list(tenant: TenantId, filter: ReviewFilter, page: Page): Promise<Paged<Review>>;
  get(tenant: TenantId, id: string): Promise<Review | null>;
  /** Ends a pending review, and changes the memory with it when approved: both or nothing. An unknown one is over. */
  settle(tenant: TenantId, id: string, settlement: Settlement): Promise<Settled>;
  /** Decided reviews read so from now on; those that wait are left as they are. */
  rewrite(tenant: TenantId, reviews: readonly RewrittenReview[]): Promise<void>;
}

/**
 * What was taken back at once, kept for ever. An undo counts unless one that counts itself takes it back; a
 * consolidation is undone while an undo that counts takes it back. (Of marks of a memory the same is true.)
 */
export interface Undo {
  readonly id: string;
  readonly tenant: TenantId;
  readonly lane: LaneId;
  readonly owner: Owner;
  /** 1 for the first undo of a lane, without gaps. */
  readonly number: number;
  /** undo: of consolidations; rollback: to a time; withdrawal: of what was said under some ids; redo: of any of these. */
  readonly kind: 'undo' | 'rollback' | 'withdrawal' | 'redo';
  /** Of a rollback: the time it leads back to. */
  readonly to: Millis | null;
  readonly consolidations: readonly string[];
  /** Earlier undos. */
  readonly undos: readonly string[];
  /** How many memories it changed. */
  readonly memories: number;
  readonly at: Millis;
}

/** Everything an undo changes. */
export interface Undoing {
  readonly undo: Undo;
  readonly changes: readonly MemoryChange[];
  /** All that block for the changed memories from now on; other ones of theirs go. */
  readonly tombstones: readonly Tombstone[];
  /** Consolidations that are undone by it, and those that count again. Their batches and reviews go with them. */
  readonly undone: readonly string[];
  readonly redone: readonly string[];
  /** What people approved of the undone consolidations stays. Missing: it goes with them. */
  readonly keepsReviews?: true;
}

export type Undone =
  | { readonly kind: 'written' }
  /** Something else was changed in between: nothing was written. */
  | { readonly kind: 'conflict' };

/** Memories something happened to. */
export type Touched =
  | { readonly consolidations: readonly string[] }
  | { readonly undo: string }
  | { readonly lane: LaneId; readonly after: Millis };

/** A batch that was replayed after its consolidation was undone. */
export interface ReplayedBatch {
  readonly batchId: string;
  readonly consolidationId: string;
}

export interface UndoStore {
  get(tenant: TenantId, id: string): Promise<Undo | null>;
  list(tenant: TenantId, filter: { userId?: string }, page: Page): Promise<Paged<Undo>>;
  /** All of a lane, oldest first. */
  ofLane(lane: LaneId): Promise<readonly Undo[]>;
  /** The ids of memories that have an event of these consolidations, of an undo, or recorded in a lane after a time. */
  touched(tenant: TenantId, by: Touched): Promise<readonly string[]>;
  /** All events of these memories, each memory's in its order. */
  events(tenant: TenantId, memoryIds: readonly string[]): Promise<readonly MemoryEvent[]>;
  /** Consolidations of a lane that were applied after a time, undone ones included, in the order of applying. */
  appliedAfter(lane: LaneId, after: Millis): Promise<readonly string[]>;
  /** Batches of these consolidations that wait again since, or belong to another one by now. */
  replayed(tenant: TenantId, consolidations: readonly string[]): Promise<readonly ReplayedBatch[]>;
  /**
   * One transaction: events, versions, tombstones, outbox, the states of consolidations, batches and pending reviews,
   * and the lane's summaries are forgotten. A conflict where a memory is not at the expected revision, the lane has
   * another undo of this number, an undone consolidation has changed a memory that is not among the changes, or a batch of
   * one that counts again was replayed.
   */
  write(tenant: TenantId, undoing: Undoing): Promise<Undone>;
}
