import type { Economy } from '../../limits/economy.ts';
import type { Ceilings, TenantSettings } from '../../settings.ts';
import type { JsonObject, TenantId } from '../../words.ts';
import type { BundleStore } from './bundles.ts';
import type { CanaryStore } from './canaries.ts';
import type { ErasureStore, RetentionStore } from './erasures.ts';
import type { ReceiptStore, ReviewStore, UndoStore } from './feedback.ts';
import type { GraphStore } from './graph.ts';
import type { BatchStore, LaneStore } from './lanes.ts';
import type { ContentStore, FilteredStore, LookupStore, MemoryStore, SaidIdStore } from './memories.ts';
import type { NightStore, TopicStore } from './nights.ts';
import type { OutboxStore, SpeechStore } from './outbox.ts';
import type { AuditStore, OverviewStore } from './overview.ts';
import type { ColdStore, DepartureStore } from './owners-away.ts';
import type { ReplayStore, SuiteStore } from './replays.ts';
import type { PresentStore, SummaryStore } from './summaries.ts';
import type { TaskStateStore } from './task-states.ts';
import type { KeyStore, LinkStore, TenantCopyStore, TrailStore } from './tenants.ts';
import type { BulkStore, ThoughtStore } from './thoughts.ts';
import type { LimitStore, ShareStore, UsageStore } from './usage.ts';
import type { WebhookStore } from './webhooks.ts';

/**
 * The truth. Every method that writes resolves only when the write is durable.
 *
 * A lane's life:
 *   idle           no batch waits. Left by append (generation + 1, nudge).
 *   waiting        batches wait for `dueAt`; a job for the current generation is or will be scheduled.
 *                  Left by claim; a flush or a full window raises the generation and nudges anew.
 *   consolidating  a window of batches is pinned to one consolidation. Every claim raises the epoch; only the
 *                  newest epoch may write. Left by apply, park or split, which decide in the same transaction
 *                  whether more waits (→ waiting, generation + 1, nudge) or not (→ idle). A failed try stays here,
 *                  with `notBefore` set.
 * Invariants: at most one consolidation per lane; positions of a lane have no gaps; a claim for any but the
 * current generation is stale and changes nothing.
 */
export interface Ledger {
  /**
   * Names this ledger, for as long as nobody restores a backup of it: an index made from another one, or from a past that
   * is no more, is not believed.
   */
  readonly id: string;
  readonly batches: BatchStore;
  readonly bulk: BulkStore;
  readonly lanes: LaneStore;
  readonly thoughts: ThoughtStore;
  readonly summaries: SummaryStore;
  readonly memories: MemoryStore;
  readonly taskStates: TaskStateStore;
  readonly saidIds: SaidIdStore;
  readonly filtered: FilteredStore;
  readonly present: PresentStore;
  readonly speech: SpeechStore;
  readonly reviews: ReviewStore;
  readonly replays: ReplayStore;
  readonly suites: SuiteStore;
  readonly undos: UndoStore;
  readonly canaries: CanaryStore;
  readonly settings: SettingsStore;
  readonly shares: ShareStore;
  readonly models: ModelStore;
  readonly keys: KeyStore;
  readonly links: LinkStore;
  readonly outbox: OutboxStore;
  readonly overview: OverviewStore;
  readonly audit: AuditStore;
  readonly contents: ContentStore;
  readonly lookups: LookupStore;
  readonly retention: RetentionStore;
  readonly erasures: ErasureStore;
  readonly departures: DepartureStore;
  readonly webhooks: WebhookStore;
  readonly graph: GraphStore;
  readonly nights: NightStore;
  readonly topics: TopicStore;
  readonly trail: TrailStore;
  readonly receipts: ReceiptStore;
  readonly usage: UsageStore;
  readonly limits: LimitStore;
  /** Throws when the ledger cannot be read and written. */
  check(): Promise<void>;
  close(): Promise<void>;
}

/** One whose owners can travel to another ledger: rows do, so that it keeps some. */
export interface StoredLedger extends Ledger {
  readonly bundles: BundleStore;
  readonly cold: ColdStore;
  readonly copies: TenantCopyStore;
}

/** All that holds for a tenant. */
export interface Terms {
  /** What it has chosen. */
  readonly rules: TenantSettings;
  /** What the operator allows it; null: what is allowed to all. */
  readonly ceilings: Ceilings | null;
  /** How far it economises, as it was noted last; null: nothing is saved. */
  readonly economy: Economy | null;
  /** Of the share of the daily limits that may be used here, see `HeldShare`; null: all of them may be. */
  readonly shareEpoch: number | null;
}

export interface SettingsStore {
  /** All of it, read at once. */
  terms(tenant: TenantId): Promise<Terms>;
  /** What the tenant has chosen; the defaults where it has chosen nothing. */
  get(tenant: TenantId): Promise<TenantSettings>;
  /** Replaces all of it. */
  put(tenant: TenantId, settings: TenantSettings): Promise<void>;
  /** What the operator has set for this tenant; null: nothing, and what holds for all counts. */
  ceilings(tenant: TenantId): Promise<Ceilings | null>;
  putCeilings(tenant: TenantId, ceilings: Ceilings | null): Promise<void>;
}

/** What was found out about models, so that no other process has to: each thing under a name that says of which model it is. */
export interface ModelStore {
  /** null: nothing is known. */
  get(name: string): Promise<JsonObject | null>;
  /** null: what was known no longer holds. */
  put(name: string, known: JsonObject | null): Promise<void>;
  /** As `put`, but only while what is known is still `before`. false: it is not, and nothing was changed. */
  swap(name: string, before: JsonObject | null, known: JsonObject | null): Promise<boolean>;
}

export interface Page {
  readonly limit: number;
  readonly cursor: string | null;
}
/** Newest first unless said otherwise. An unreadable cursor throws InvalidCursorError. */
export interface Paged<T> {
  readonly results: readonly T[];
  readonly nextCursor: string | null;
}
export class InvalidCursorError extends Error {
  constructor() {
    super('the cursor does not belong to this list; start again without a cursor');
    this.name = 'InvalidCursorError';
  }
}

/** Rows read at once: lists of any length need the memory of one page. */
export const PAGE = 200;

/** All of a list at once, or the beginning of it. */
export async function allOf<T>(list: (page: Page) => Promise<Paged<T>>, most = Number.POSITIVE_INFINITY): Promise<T[]> {
  const all: T[] = [];
  for await (const one of pages(list)) {
    if (all.length < most) all.push(one);
    if (all.length >= most) break;
  }
  return all;
}

/** Everything of a list, page by page. */
export async function* pages<T>(list: (page: Page) => Promise<Paged<T>>): AsyncGenerator<T> {
  for (let cursor: string | null = null, more = true; more; ) {
    const page: Paged<T> = await list({ limit: PAGE, cursor });
    yield* page.results;
    cursor = page.nextCursor;
    more = cursor !== null;
  }
}

/** Everything of a list that goes on behind its last one, in slices. */
export async function* slicesOf<T>(
  read: (last: T | null, limit: number) => Promise<readonly T[]>,
  limit = PAGE,
): AsyncGenerator<readonly T[]> {
  for (let last: T | null = null; ; ) {
    const slice: readonly T[] = await read(last, limit);
    yield slice;
    last = slice.at(-1) ?? null;
    if (slice.length < limit) return;
  }
}
