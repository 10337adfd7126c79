import type { LaneId, Millis, TenantId } from '../../words.ts';

/** What stands where the content of a message was. */
export const REMOVED = '[removed by retention]';

/** What is not kept for ever, found and removed in slices. What still has to be consolidated is never part of it. */
export interface RetentionStore {
  /** Those who have chosen anything. */
  tenants(): Promise<readonly TenantId[]>;
  /** Standing lanes of a tenant, by id. */
  lanes(tenant: TenantId, after: LaneId | null, limit: number): Promise<readonly LaneId[]>;
  /** Ended batches that were accepted before, and have their messages. */
  countMessages(tenant: TenantId, before: Millis): Promise<number>;
  /** The content of their messages gives way to REMOVED; ids, roles and times stay. Answers with how many batches. */
  removeMessages(tenant: TenantId, before: Millis, how: RemovalSlice): Promise<number>;
  /** Ended consolidations that began before, and have their plans or answers. */
  countPlans(tenant: TenantId, before: Millis): Promise<number>;
  removePlans(tenant: TenantId, before: Millis, how: RemovalSlice): Promise<number>;
}

export interface RemovalSlice {
  readonly limit: number;
  readonly now: Millis;
}
