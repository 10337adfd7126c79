import type { Millis, Owner, TenantId } from '../../words.ts';
import type { Page, Paged } from './page.ts';
import type { Account } from './summaries.ts';

/** accepted = pending + consolidating + consolidated + empty + parked + undone + erased, always. */
export interface BatchCounts {
  readonly accepted: number;
  readonly pending: number;
  readonly consolidating: number;
  readonly consolidated: number;
  readonly empty: number;
  readonly parked: number;
  readonly undone: number;
  readonly erased: number;
}

export interface UsageTotals {
  readonly calls: number;
  readonly failedCalls: number;
  readonly promptTokens: number;
  readonly completionTokens: number;
}

/** What one model was asked. */
export interface UsageOfModel extends UsageTotals {
  readonly model: string;
}

export interface OwnerSummary {
  readonly owner: Owner;
  readonly memories: number;
  readonly pending: number;
  readonly createdAt: Millis;
  readonly updatedAt: Millis;
}

export interface OverviewStore {
  batches(tenant: TenantId): Promise<BatchCounts>;
  /** Batches that wait or are being consolidated, of one tenant or of all but shadow spaces; counts no further than `atMost`. */
  backlog(tenant: TenantId | null, atMost: number): Promise<number>;
  memories(tenant: TenantId): Promise<{ live: number; versions: number }>;
  /** With what its shadow spaces have used. */
  usage(tenant: TenantId): Promise<UsageTotals>;
  usageOf(consolidationId: string): Promise<UsageTotals>;
  /** What each model was asked on the UTC day of `at`: for a whole tenant with its shadow spaces, or for one account. Ordered by model. */
  usageOfDay(of: { readonly tenant: TenantId } | Account, at: Millis): Promise<readonly UsageOfModel[]>;
  owners(tenant: TenantId, page: Page): Promise<Paged<OwnerSummary>>;
  ownerCount(tenant: TenantId): Promise<number>;
  /** How many memories and batches, and how much of graphs, is still to be projected. */
  outbox(): Promise<number>;
  /** When the oldest due work became due; null when none is. Across tenants, without shadow spaces: a health figure. */
  oldestDue(now: Millis): Promise<Millis | null>;
}
