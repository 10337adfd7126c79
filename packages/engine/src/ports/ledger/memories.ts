import type { HeldOperation } from '../../plan.ts';
import type { LaneId, Memory, MemoryEvent, Message, Millis, Owner, SaidAt, Scope, TenantId } from '../../words.ts';
import type { Nudge } from '../schedule.ts';
import type { DuePolicy, Fenced, Turn } from './lanes.ts';
import type { Page, Paged } from './page.ts';

/** A memory as it shall be, with the events that make it so from `expectedRevision`. */
export interface MemoryChange {
  readonly memory: Memory;
  readonly expectedRevision: number;
  readonly events: readonly MemoryEvent[];
}

/** A deletion that still blocks what was said before it. */
export interface Tombstone {
  readonly memoryId: string;
  /** Hash of the normalised text that was deleted. */
  readonly textHash: string;
  readonly deletedAt: SaidAt;
}

export interface Application {
  readonly changes: readonly MemoryChange[];
  readonly tombstones: readonly Tombstone[];
  /** Operations that wait for a person: stored as pending reviews. */
  readonly reviews: readonly HeldOperation[];
  /** How each pinned batch ends. */
  readonly batches: ReadonlyMap<string, 'consolidated' | 'empty'>;
  /** A study of it is wanted: pending from this transaction on. */
  readonly graph: boolean;
  readonly timings: Readonly<Record<string, number>>;
  readonly now: Millis;
  readonly policy: DuePolicy;
}

export type Applied =
  | { readonly kind: 'applied'; readonly next: Nudge | null }
  /** Explicit writes overtook the plan on these memories: nothing was changed. */
  | { readonly kind: 'conflict'; readonly memoryIds: readonly string[] }
  | Fenced;

export type Written =
  | { readonly kind: 'written' }
  | { readonly kind: 'conflict'; readonly memoryIds: readonly string[] };

export interface MemoryStore {
  /** One transaction: events, versions, tombstones, reviews, batch states, outbox, study, and whether the lane has more. */
  apply(turn: Turn, application: Application): Promise<Applied>;
  /** Explicit writes: the same events and outbox, no lane turn. All or nothing. */
  write(
    tenant: TenantId,
    change: { changes: readonly MemoryChange[]; tombstones: readonly Tombstone[]; now: Millis },
  ): Promise<Written>;
  /** The lane of an owner, made if missing. */
  laneOf(tenant: TenantId, owner: Owner, now: Millis): Promise<LaneId>;
  get(tenant: TenantId, id: string): Promise<Memory | null>;
  /** Existing ones of these ids, any order. */
  many(tenant: TenantId, ids: readonly string[]): Promise<readonly Memory[]>;
  /** Memories of a lane with versions the index does not have yet. */
  unprojected(lane: LaneId): Promise<readonly Memory[]>;
  /** Tombstones of a lane for any of these text hashes. */
  tombstones(lane: LaneId, textHashes: readonly string[]): Promise<readonly Tombstone[]>;
  /** Live memories of an owner, newest first. `now` leaves out the expired. */
  list(tenant: TenantId, scope: Scope, now: Millis, page: Page): Promise<Paged<Memory>>;
  /** All memories of an owner that are live, without paging: for deleting them. */
  liveIds(tenant: TenantId, scope: Scope): Promise<readonly string[]>;
  /** Every memory of the tenant in id order, for rebuilding an index. */
  every(after: string | null, limit: number): Promise<readonly Memory[]>;
  /** Oldest first. */
  history(tenant: TenantId, id: string, page: Page): Promise<Paged<MemoryEvent>>;
  /** The messages behind a memory's versions, with neighbours of the same lane. */
  sources(
    tenant: TenantId,
    id: string,
    around: { before: number; after: number },
  ): Promise<readonly { message: Message; isSource: boolean }[]>;
  /** Source messages of several memories at once, by message id. */
  messages(tenant: TenantId, ids: readonly string[]): Promise<ReadonlyMap<string, Message>>;
}
