import type { Millis, TenantId } from '../../words.ts';

/** The part of a tenant's daily limits that this ledger's cell may use. Without one it may use all of them. */
export interface HeldShare {
  /** The directory's, of this tenant and cell. 0: it was told nothing yet, and what is tenant-wide may be missing, too. */
  readonly epoch: number;
  readonly part: number;
  readonly until: Millis;
  /** The day (UTC) on which it was told, and the limits: what follows holds for these. */
  readonly day: number;
  readonly limits: string;
  /** What other cells had used. */
  readonly elsewhere: number;
  /** There is no more to be had. */
  readonly isLast: boolean;
  /** As soon as so much is used, it wants more. */
  readonly wantsAt: number;
  /** It wants more. */
  readonly wants: boolean;
}

export interface ShareStore {
  held(tenant: TenantId): Promise<HeldShare | null>;
  /** Unless something of a later epoch is held. Returns what is held then. */
  take(tenant: TenantId, share: HeldShare): Promise<HeldShare>;
  /** Notes that more than what was told at an epoch is wanted. */
  want(tenant: TenantId, epoch: number): Promise<void>;
  /** The tenants that want more. */
  wanting(limit: number): Promise<readonly TenantId[]>;
}
