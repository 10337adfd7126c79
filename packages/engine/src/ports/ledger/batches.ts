import type {
  BatchSettings,
  BatchStage,
  BatchState,
  Failure,
  JsonObject,
  LaneId,
  MarkedTrust,
  MemoryEvent,
  Message,
  Millis,
  Priority,
  Scope,
  SpeakersClock,
  TenantId,
} from '../../words.ts';
import type { Nudge } from '../schedule.ts';
import type { DuePolicy } from './lanes.ts';
import type { Page, Paged } from './page.ts';

export interface NewMessage {
  readonly id: string;
  readonly clientId: string | null;
  readonly role: Message['role'];
  readonly content: Message['content'];
  readonly name: string | null;
  readonly trust?: MarkedTrust;
  /** The message's own timestamp, else the batch's, else null: acceptance counts. Also where the timestamp is to come. */
  readonly at: Millis | null;
  /** Where it shows something else than UTC, or than when the message counts as said. */
  readonly clock?: SpeakersClock;
}

export interface NewBatch {
  readonly id: string;
  readonly tenant: TenantId;
  readonly scope: Scope;
  readonly settings: BatchSettings;
  readonly metadata: JsonObject;
  readonly messages: readonly NewMessage[];
  /** An estimate, cheap to make; only the due policy reads it. */
  readonly tokens: number;
  readonly acceptedAt: Millis;
  readonly flush: boolean;
  readonly priority: Priority;
  readonly idempotency: { readonly key: string; readonly bodyHash: string } | null;
  /** The API key that posts it; missing: the operator's, or none. */
  readonly keyId?: string;
}

export type Appended =
  /** `paused`: how many of its messages were said in a pause of their owner, and are not kept. */
  | { readonly kind: 'stored'; readonly nudge: Nudge | null; readonly paused: 'none' | 'some' | 'all' }
  /** The same key with the same body came before. */
  | { readonly kind: 'repeated'; readonly batchId: string; readonly state: BatchState }
  /** The same key with another body came before. */
  | { readonly kind: 'conflict' };

export interface Batch {
  readonly id: string;
  readonly tenant: TenantId;
  readonly lane: LaneId;
  readonly scope: Scope;
  readonly settings: BatchSettings;
  readonly metadata: JsonObject;
  readonly position: number;
  readonly priority: Priority;
  readonly state: BatchState;
  readonly stage: BatchStage;
  readonly attempts: number;
  readonly failure: Failure | null;
  /** The last tries that failed, oldest first, those before a replay included; at most FAILURES_KEPT. */
  readonly failures: readonly Failure[];
  readonly consolidationId: string | null;
  readonly messageCount: number;
  readonly acceptedAt: Millis;
  readonly claimedAt: Millis | null;
  readonly appliedAt: Millis | null;
  readonly searchableAt: Millis | null;
}

/** Enough to see whether it is always the same that fails. */
export const FAILURES_KEPT = 10;

export interface BatchStore {
  append(batch: NewBatch, policy: DuePolicy): Promise<Appended>;
  get(tenant: TenantId, id: string): Promise<Batch | null>;
  list(
    tenant: TenantId,
    filter: { state?: BatchState; userId?: string; lane?: string; errorCode?: string; since?: Millis },
    page: Page,
  ): Promise<Paged<Batch>>;
  /** Why batches of a tenant are parked, the most frequent reason first. */
  parkedReasons(tenant: TenantId): Promise<readonly ParkedReason[]>;
  /** The events its messages led to, oldest first. */
  events(tenant: TenantId, id: string): Promise<readonly MemoryEvent[]>;
  /** Parked batches that match, oldest first. */
  parked(tenant: TenantId, filter: ParkedFilter, limit: number): Promise<readonly Batch[]>;
  /**
   * Parked and undone batches wait again, due now, at their old positions, with their attempts at zero. Others are left
   * alone, and so are those whose messages retention has removed. Of the undone their former consolidations are kept
   * (`Thought.former`). Many at once become backfill (`replayPriority`).
   */
  replay(
    tenant: TenantId,
    ids: readonly string[],
    now: Millis,
  ): Promise<{ replayed: readonly string[]; nudges: readonly Nudge[] }>;
}

/** Parked batches with the same error code. */
export interface ParkedReason {
  readonly code: string;
  readonly batches: number;
  readonly owners: number;
  /** The message of one of them. */
  readonly example: string;
  /** When the first and the last of them were accepted. */
  readonly oldestAt: Millis;
  readonly newestAt: Millis;
}

export interface ParkedFilter {
  readonly ids?: readonly string[];
  readonly lane?: LaneId;
  readonly userId?: string;
  readonly errorCode?: string;
  readonly since?: Millis;
}

/** About as many as one person looks through and waits for; more of them are the aftermath of a failure. */
const LIVE_MAX = 20;

/** What batches become that are replayed together; null: they stay what they were. */
export const replayPriority = (count: number): Priority | null => (count > LIVE_MAX ? 'backfill' : null);
