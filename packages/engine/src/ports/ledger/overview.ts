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

/** A row that refers to something which is not there, by what it is and what it lacks. */
export const ORPHAN_KINDS = [
  'batch without lane',
  'message without batch',
  'memory without lane',
  'memory without event',
  'memory without version',
  'version without memory',
  'event without memory',
  'tombstone without memory',
  'plan without consolidation',
  'outbox entry without memory',
] as const;
export type OrphanKind = (typeof ORPHAN_KINDS)[number];

/** A figure or a place of a batch or lane that contradicts the others. */
export const CONTRADICTIONS = [
  /** The lane counts other waiting batches than there are. */
  'lane that miscounts',
  /** idle with waiting batches, waiting without any, or consolidating without a window. */
  'lane in a wrong state',
  /** Being consolidated, but in no lane's window. */
  'batch in no window',
  /** Everything it led to is in the index, but it never came to its end. */
  'batch that never ends',
  /** Of a consolidation that is undone, or not counting though its consolidation counts. */
  'statement that counts wrongly',
  /** A relation, or a name or a merge of an entity, is not what the statements that count come to. */
  'relation that does not follow',
] as const;
export type Contradiction = (typeof CONTRADICTIONS)[number];

/** What is wrong, how often, and where to look. */
export interface Suspects {
  readonly count: number;
  /** Ids of the first ones. */
  readonly examples: readonly string[];
}

export interface ParkedBatches {
  readonly tenant: TenantId;
  readonly code: string;
  readonly batches: number;
}

/** What a ledger can say of its own soundness. Reads only, across tenants; may take long on a large ledger. */
export interface AuditStore {
  /** Everybody who has or had anything in it. */
  tenants(): Promise<readonly TenantId[]>;
  memories(): Promise<number>;
  /** Any memories, at most so many: other ones each time. */
  sample(limit: number): Promise<readonly { readonly tenant: TenantId; readonly id: string }[]>;
  orphans(kind: OrphanKind): Promise<Suspects>;
  contradictions(kind: Contradiction): Promise<Suspects>;
  /** Lanes that should have been worked on since before this moment, and are not paused. */
  overdue(before: Millis): Promise<Suspects>;
  /** Not those in shadow spaces: a what-if counts them. */
  parked(): Promise<readonly ParkedBatches[]>;
}
