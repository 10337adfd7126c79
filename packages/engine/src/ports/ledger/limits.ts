import type { Climbed, Economy, Spending } from '../../limits/economy.ts';
import type { Millis, TenantId } from '../../words.ts';

/** What came of limits: how far tenants economise. */
export interface LimitStore {
  /** Notes what is seen of a tenant's day, and tells webhooks in the same transaction. `climb` says what follows. */
  economise(tenant: TenantId, seen: Spending, now: Millis): Promise<Climbed>;
  /** Tenants that economise, or did when it was noted last. */
  economies(): Promise<readonly (Economy & { readonly tenant: TenantId })[]>;
}
