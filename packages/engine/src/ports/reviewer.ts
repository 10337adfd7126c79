import type { TenantId } from '../words.ts';
import type { Review, ReviewState } from './ledger/reviews.ts';

export type ReviewResult =
  /** It is over now: approved, rejected or stale. Not searchable: in the ledger, and found once the index is back. */
  | { readonly kind: 'settled'; readonly review: Review; readonly searchable: boolean }
  | { readonly kind: 'not_found' }
  /** It was settled before; nothing was changed. */
  | { readonly kind: 'over'; readonly state: ReviewState }
  /** It deletes what another review would add: that one comes first. */
  | { readonly kind: 'early'; readonly first: string }
  /** Something else kept changing the memory in between. */
  | { readonly kind: 'conflict' };

/** A person's word on operations that wait. */
export interface Reviewer {
  /** Carries the operation out as if it had been when its fact was said. Too late for that: the review is stale. */
  approve(tenant: TenantId, id: string): Promise<ReviewResult>;
  reject(tenant: TenantId, id: string): Promise<ReviewResult>;
}
