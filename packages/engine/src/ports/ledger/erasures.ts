import type { LaneId, Memory, MemoryEvent, Millis, Owner, TenantId, Withheld } from '../../words.ts';

/**
 * An erasure's life:
 *   requested   stored; the owner's lane is cut off: nobody claims it, writes to it or finds it by its owner any more.
 *               What the owner says from now on goes to a new lane.
 *   erasing     rows go, in slices.
 *   compacting  the rows and the owner's id are gone; the stores still hold bytes that are free to be overwritten.
 *   erased      those are gone, too, but for what `remains` names.
 */
export type ErasureState = 'requested' | 'erasing' | 'compacting' | 'erased';

/** Rows that were erased, by table. */
type ErasedCounts = Readonly<Record<string, number>>;

export interface Erasure {
  readonly id: string;
  readonly tenant: TenantId;
  /** Whose: null once the rows are gone. What stays is the record that something was erased. */
  readonly owner: Owner | null;
  /** A digest of tenant and owner: proves to who knows the id that it was erased. */
  readonly ownerHash: string;
  /** null: the owner had none, or it is gone. */
  readonly lane: LaneId | null;
  readonly state: ErasureState;
  readonly counts: ErasedCounts;
  /** What nobody could overwrite at once, in words for an operator. */
  readonly remains: readonly string[];
  readonly requestedAt: Millis;
  readonly erasedAt: Millis | null;
  /** The owner went to another cell: no record of it stays. */
  readonly departed: boolean;
}

export interface NewErasure {
  readonly id: string;
  readonly ownerHash: string;
  readonly now: Millis;
}

export interface Compaction {
  /** false: somebody still reads what was there before; ask again in a moment. */
  readonly done: boolean;
  readonly remains: readonly string[];
}

export interface ErasureStore {
  /**
   * One transaction: the erasure is stored, and the owner's lane is cut off with a higher epoch, so that work in flight
   * can't write. While one of the same owner has a lane to erase, that one is the answer.
   */
  request(tenant: TenantId, owner: Owner, erasure: NewErasure): Promise<Erasure>;
  get(tenant: TenantId, id: string): Promise<Erasure | null>;
  /** Those that are not erased yet, of all tenants, oldest first; also of owners that departed. */
  open(limit: number): Promise<readonly Erasure[]>;
  /** Whether a lane is there and not cut off. */
  standing(lane: LaneId): Promise<boolean>;
  /**
   * Erases at most `limit` of one kind of row, with all that hangs on them, and counts them; batches that go are counted
   * as erased in the same transaction, or as never accepted where their owner departed. `more` is false when only the lane's own row is
   * left.
   */
  slice(id: string, limit: number): Promise<{ readonly more: boolean }>;
  /**
   * The lane's own row goes, and with it the owner's id: compacting. Throws while rows of the lane are left. Of an owner that departed the
   * record goes, too, and what is free to be overwritten is for retention to overwrite.
   */
  forgetOwner(id: string): Promise<void>;
  /** What is free to be overwritten is overwritten. */
  compact(): Promise<Compaction>;
  finish(ids: readonly string[], how: { readonly remains: readonly string[]; readonly now: Millis }): Promise<void>;
}

/** What is shown where the text of a memory was. */
export const REMOVED = '[removed by retention]';
/** What stands where the content of a message was. */
export const NOT_KEPT: Withheld = { withheld: 'retention' };

/** What is not kept for ever, found and removed in slices. What still has to be consolidated is never part of it. */
export interface RetentionStore {
  /** Those who have chosen anything, or have something that is forgotten. */
  tenants(): Promise<readonly TenantId[]>;
  /** Standing lanes of a tenant, by id. */
  lanes(tenant: TenantId, after: LaneId | null, limit: number): Promise<readonly LaneId[]>;
  /** Ended batches that were accepted before, and have their messages. */
  countMessages(tenant: TenantId, before: Millis): Promise<number>;
  /**
   * The content of their messages gives way to NOT_KEPT; ids, roles and times stay. The batches are to be projected again,
   * and of the memories that are found by what they said. Answers with how many batches.
   */
  removeMessages(tenant: TenantId, before: Millis, how: RemovalSlice): Promise<number>;
  /** Ended consolidations that began before, and have their plans or answers. */
  countPlans(tenant: TenantId, before: Millis): Promise<number>;
  removePlans(tenant: TenantId, before: Millis, how: RemovalSlice): Promise<number>;
  /** Memories that may have had something to remove since before, longest first; `after` is the last one of the page before. */
  histories(
    tenant: TenantId,
    before: Millis,
    page: { readonly after: HistoryPlace | null; readonly limit: number },
  ): Promise<readonly HistoryPlace[]>;
  /**
   * One transaction: versions, timelines and events read so from now on, at the revision they have, vectors of what is gone
   * are dropped, and they are to be projected. A memory that was changed meanwhile is left as it is. Answers with how many
   * were not.
   */
  removeHistories(tenant: TenantId, removals: readonly HistoryRemoval[]): Promise<number>;
  /**
   * Memories that were forgotten before, or undone as a whole, and of which anything may be left, longest first; `from` is when.
   * `after` is the last one of the page before.
   */
  forgotten(
    tenant: TenantId,
    before: Millis,
    page: { readonly after: HistoryPlace | null; readonly limit: number },
  ): Promise<readonly HistoryPlace[]>;
  /**
   * One transaction: what removeHistories does, and all else that says them goes: their words in messages, wishes, statements that
   * fell and entities that nothing names any more, plans, answers, reviews, deliveries and vectors. One that was changed or
   * found meanwhile, or whose lane is worked on or not projected, is left as it is. Answers with how many were not.
   */
  eraseForgotten(tenant: TenantId, removals: readonly HistoryRemoval[], now: Millis): Promise<number>;
  /**
   * The same of wishes to forget that found nothing, by consolidations that were applied before; nothing brings their words back. Answers
   * with how many messages. Lanes that are worked on are left.
   */
  eraseWishes(tenant: TenantId, before: Millis, how: RemovalSlice): Promise<number>;
  /** What names the last such removal whose bytes were not overwritten since; null: there is none. */
  uncompacted(): Promise<string | null>;
  /** They were. A removal since then stays noted. */
  compacted(removal: string): Promise<void>;
  /** Those of these batches whose messages are removed. */
  withoutMessages(tenant: TenantId, batchIds: readonly string[]): Promise<readonly string[]>;
}

export interface HistoryPlace {
  readonly memoryId: string;
  /** Since when it may have something to remove, see memories/former.ts; 0: not known. */
  readonly from: Millis;
}

export interface HistoryRemoval {
  readonly memory: Memory;
  readonly events: readonly MemoryEvent[];
  /** Hashes of texts that are gone. */
  readonly textHashes: readonly string[];
}

/** Whether anything reads otherwise, or only since when there may be something to remove. */
export const readsOtherwise = ({ events, textHashes }: HistoryRemoval): boolean =>
  events.length + textHashes.length > 0;

export interface RemovalSlice {
  readonly limit: number;
  readonly now: Millis;
}
