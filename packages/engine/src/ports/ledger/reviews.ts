import type { HeldOperation } from '../../plan.ts';
import type { LaneId, Millis, Owner, Scope, TenantId } from '../../words.ts';
import type { MemoryChange, Tombstone } from './memories.ts';
import type { Page, Paged } from './page.ts';

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
  readonly consolidationId: string;
  readonly operation: HeldOperation;
  readonly state: ReviewState;
  /** Why it went stale; null else. */
  readonly note: string | null;
  readonly createdAt: Millis;
  readonly settledAt: Millis | null;
}

export interface ReviewFilter {
  readonly state?: ReviewState;
  readonly userId?: string;
  readonly memoryId?: string;
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

export interface ReviewStore {
  list(tenant: TenantId, filter: ReviewFilter, page: Page): Promise<Paged<Review>>;
  get(tenant: TenantId, id: string): Promise<Review | null>;
  /** Ends a pending review, and changes the memory with it when approved: both or nothing. An unknown one is over. */
  settle(tenant: TenantId, id: string, settlement: Settlement): Promise<Settled>;
}
