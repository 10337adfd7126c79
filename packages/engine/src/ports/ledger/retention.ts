import type { LaneId, Memory, MemoryEvent, Millis, TenantId, Withheld } from '../../words.ts';

/** What is shown where the text of a memory was. */
export const REMOVED = '[removed by retention]';
/** What stands where the content of a message was. */
export const NOT_KEPT: Withheld = { withheld: 'retention' };

/** What is not kept for ever, found and removed in slices. What still has to be consolidated is never part of it. */
export interface RetentionStore {
  /** Those who have chosen anything. */
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
