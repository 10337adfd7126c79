import type { Purpose } from '../../models/call-model.ts';
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
  Owner,
  Priority,
  Scope,
  SpeakersClock,
  TenantId,
} from '../../words.ts';
import type { Nudge, TurnName } from '../schedule.ts';
import type { Page, Paged } from './ledger.ts';
import type { Gathered } from './thoughts.ts';

/** When a lane with waiting batches is due. */
export interface DuePolicy {
  readonly tokens: number;
  /** That wait; none: however many. */
  readonly exchanges?: number;
  /** Of silence, at least. */
  readonly idleMs: number;
  /** Of silence, where that is longer: so many times the owner's pace. none: idleMs, whatever the pace. */
  readonly paces?: number;
  readonly maxAgeMs: number;
}

/** Limits of what one consolidation takes at once. */
export interface WindowPolicy {
  readonly maxTokens: number;
  readonly maxBatches: number;
}

/** One claimed turn. Its fence goes with every write. */
export interface Turn {
  readonly tenant: TenantId;
  readonly lane: LaneId;
  readonly owner: Owner;
  readonly generation: number;
  readonly epoch: number;
  readonly consolidationId: string;
  readonly scope: Scope;
  readonly settings: BatchSettings;
  readonly batchIds: readonly string[];
  /** The canary whose changes it is consolidated with, from the first claim of the window on; null: none. */
  readonly variant: string | null;
  /** The rung of the tenant's economy when the window was pinned, which holds in each try. Missing: none. */
  readonly rung?: number;
  /** Failed tries of this window so far. */
  readonly attempts: number;
  /** An earlier claim pinned its window: whoever had that may just be storing an answer. Missing: this one did. */
  readonly resumed?: true;
  readonly claimedAt: Millis;
  /** The API key that posted the first of its batches; missing: none that is known. */
  readonly keyId?: string;
  /** Missing: a consolidation. */
  readonly purpose?: Purpose;
}

export type Claim =
  /** Not the lane's current generation, or nothing waits: the job has nothing to do. */
  | { readonly kind: 'stale' }
  | { readonly kind: 'not_due'; readonly dueAt: Millis }
  /** With what `thoughts.gather` would read now, where it was asked for. */
  | { readonly kind: 'claimed'; readonly turn: Turn; readonly gathered: Gathered | null };

export type Failed =
  | { readonly kind: 'retry'; readonly at: Millis }
  /** The window was too big to blame one batch: it is halved, and the first half tried on its own. */
  | { readonly kind: 'split'; readonly next: Nudge }
  | { readonly kind: 'parked'; readonly next: Nudge | null }
  | Fenced;

/** Lost to a later claim: nothing was written. */
export type Fenced = { readonly kind: 'fenced' };

export interface Lane {
  readonly id: LaneId;
  readonly tenant: TenantId;
  readonly owner: Owner;
  readonly state: 'idle' | 'waiting' | 'consolidating';
  readonly generation: number;
  readonly epoch: number;
  readonly pending: number;
  readonly dueAt: Millis | null;
  readonly attempts: number;
  /** The number of its last message; 0: nothing was posted yet. */
  readonly lastMessage: number;
  /** Since when its owner wants nothing remembered; null: everything is. */
  readonly pausedAt: Millis | null;
  /** The segment that has all of it while its owner sleeps; null: this ledger has. */
  readonly cold: string | null;
}

/** A time of which an owner wants nothing remembered; until null: it goes on. */
export interface Pause {
  readonly from: Millis;
  readonly until: Millis | null;
}

/** A place in the list of due lanes. */
export type DueMark = Pick<Nudge, 'lane' | 'dueAt'>;

/** A lane whose messages were accepted so much later than now got its time from a clock that was ahead. Clocks differ by less. */
export const CLOCK_AHEAD_MS = 10_000;
/** What a clock shows is noted this often: the ledger is not written to for nothing. */
export const CLOCK_NOTED_MS = 20_000;

export interface LaneStore {
  /** `newConsolidationId` is used only when no window is pinned yet; `recentCount` as by `thoughts.gather`. */
  claim(
    job: TurnName,
    how: { now: Millis; window: WindowPolicy; newConsolidationId: string; recentCount?: number },
  ): Promise<Claim>;
  /**
   * A try failed. Counts one attempt on every pinned batch. Retryable with attempts left: again at `retryAt`.
   * Else a window of several batches is split in two, and a single batch is parked.
   */
  fail(
    turn: Turn,
    how: { failure: Failure; retryable: boolean; retryAt: Millis; maxAttempts: number; policy: DuePolicy },
  ): Promise<Failed>;
  /**
   * Given back unharmed: no attempt is counted, the turn is due at `dueAt`. `why` is shown on its batches until they
   * are applied, where the wait is not the worker's own.
   */
  release(turn: Turn, dueAt: Millis, why?: Failure): Promise<void>;
  /**
   * Lanes with work that is due at or before `now`, oldest first, with their current generation. `after` is the last one
   * of a page: so that whoever looks for few at a time has looked at all of them after a while.
   */
  due(now: Millis, limit: number, after?: DueMark): Promise<readonly Nudge[]>;
  /** Tenants of which at least so many lanes with live work have been due since before then. Backfill is in nobody's count. */
  lateTenants(dueBefore: Millis, lanes: number): Promise<readonly TenantId[]>;
  /** All lanes with work, due or not: for filling an empty queue. `after` pages by lane id. */
  withWork(after: LaneId | null, limit: number): Promise<readonly Nudge[]>;
  /** The job of this generation ended without the lane moving on: generation + 1. null if the lane has moved on. */
  raise(turn: TurnName): Promise<Nudge | null>;
  /** Makes an owner's waiting batches due now. */
  flush(tenant: TenantId, owner: Owner, now: Millis): Promise<{ pending: number; nudge: Nudge | null }>;
  /**
   * From now on nothing that is posted is kept, or it is again. What was appended before is consolidated all the same. Twice
   * the same changes nothing. The lane as it is then; null: it is cut off.
   */
  pause(id: LaneId, how: { paused: boolean; now: Millis }): Promise<Lane | null>;
  /**
   * What waits for a time that a clock named while it was ahead is due now: of the lanes those that took messages well after
   * now, or, where `all` is said, everything that waits for a later time, retries, studies and deliveries too. How many lanes.
   */
  clockSetBack(now: Millis, how: { all: boolean }): Promise<number>;
  /**
   * Notes about every CLOCK_NOTED_MS what a worker's clock shows, and answers with the latest that any has shown since clocks
   * were last set back.
   */
  clockSeen(now: Millis): Promise<Millis>;
  /** The same without noting anything; null: no worker has looked yet. For whoever only wants to know what the time is there. */
  clockShown(): Promise<Millis | null>;
  find(tenant: TenantId, owner: Owner): Promise<Lane | null>;
  get(id: LaneId): Promise<Lane | null>;
}

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

/** About as many as one person looks through and waits for; more of them are the aftermath of a failure. */
const LIVE_MAX = 20;

/** What batches become that are replayed together; null: they stay what they were. */
export const replayPriority = (count: number): Priority | null => (count > LIVE_MAX ? 'backfill' : null);
