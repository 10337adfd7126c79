import type { FiguresOfModel } from '../../figures/figures.ts';
import type { Statement } from '../../graph/words.ts';
import type { SaidKind } from '../../memories/evolve.ts';
import type { HeldOperation, Plan, SeenAttack } from '../../plan.ts';
import type { Filter } from '../../search/filter/filter.ts';
import type {
  LaneId,
  Memory,
  MemoryEvent,
  MemoryVersion,
  Message,
  Millis,
  NamedIds,
  Owner,
  SaidAt,
  Scope,
  TenantId,
} from '../../words.ts';
import type { Nudge } from '../schedule.ts';
import type { DuePolicy, Fenced, Turn } from './lanes.ts';
import type { Page, Paged } from './ledger.ts';
import type { Covered } from './summaries.ts';

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
  /** Stored with what it changes. null: it was stored before. */
  readonly plan: Plan | null;
  readonly changes: readonly MemoryChange[];
  readonly tombstones: readonly Tombstone[];
  /** Operations that wait for a person: stored as pending reviews. */
  readonly reviews: readonly HeldOperation[];
  /** How each pinned batch ends. */
  readonly batches: ReadonlyMap<string, 'consolidated' | 'empty'>;
  /** Wishes to have something forgotten: what says them is hidden. */
  readonly wishes: readonly WishToForget[];
  /** Messages that address the model. */
  readonly attacks: readonly SeenAttack[];
  /** A study of it is wanted: pending from this transaction on. */
  readonly graph: boolean;
  /** null: it was not measured. */
  readonly measured: FiguresOfModel | null;
  readonly now: Millis;
  readonly policy: DuePolicy;
}

/** The words of a message by which somebody asked to have something forgotten. */
export interface WishToForget {
  readonly messageId: string;
  /** null: all of it. */
  readonly quote: string | null;
  /**
   * What it is about: its words are hidden while that is forgotten, or its deletion waits for a person. null: nothing that was
   * remembered, and they stay hidden.
   */
  readonly memoryId: string | null;
}

/** What a very bad rating of what a memory says now does to its reviews: those of earlier ratings are over, and there is one of it. */
export interface Proposal {
  readonly memoryId: string;
  readonly opens: HeldOperation;
  /** Why the earlier ones are stale. */
  readonly note: string;
}

export type Applied =
  | { readonly kind: 'applied'; readonly next: Nudge | null }
  /** Explicit writes overtook the plan on these memories: nothing was changed. */
  | { readonly kind: 'conflict'; readonly memoryIds: readonly string[] }
  | Fenced;

export type Written =
  | { readonly kind: 'written' }
  | { readonly kind: 'conflict'; readonly memoryIds: readonly string[] };

/** What would be hidden and fall if a memory were forgotten now. */
export interface Leaning {
  /** Its messages, with the other memories that lean on each: those keep the rest of it shown. */
  readonly messages: readonly {
    readonly id: string;
    readonly hidden: 'words' | 'all';
    readonly otherMemoryIds: readonly string[];
  }[];
  /** Statements that count. */
  readonly statements: readonly Statement[];
}

/** For what the ledger is asked beside the index. */
interface BesideIndex {
  readonly forgottenSince: Millis;
  readonly textHashes: readonly string[];
}

/** What a lane has and the index does not, read at once. */
export interface Unindexed {
  /** With versions that the index does not have yet, or no more: those that were forgotten since. */
  readonly memories: readonly Memory[];
  /** For any of the text hashes. */
  readonly tombstones: readonly Tombstone[];
}

/** Whatever changes a memory also ends the proposals to delete it that its ratings do not make any more. */
export interface MemoryStore {
  /** One transaction: events, versions, tombstones, reviews, batch states, outbox, study, and whether the lane has more. */
  apply(turn: Turn, application: Application): Promise<Applied>;
  /** Explicit writes: the same events and outbox, no lane turn. All or nothing. */
  write(
    tenant: TenantId,
    change: {
      changes: readonly MemoryChange[];
      tombstones: readonly Tombstone[];
      proposal?: Proposal | undefined;
      now: Millis;
    },
  ): Promise<Written>;
  /** The lane of an owner, made if missing. */
  laneOf(tenant: TenantId, owner: Owner, now: Millis): Promise<LaneId>;
  get(tenant: TenantId, id: string): Promise<Memory | null>;
  /** Existing ones of these ids, any order. */
  many(tenant: TenantId, ids: readonly string[]): Promise<readonly Memory[]>;
  unindexed(lane: LaneId, asked: BesideIndex): Promise<Unindexed>;
  /** Tombstones of a lane for any of these text hashes. */
  tombstones(lane: LaneId, textHashes: readonly string[]): Promise<readonly Tombstone[]>;
  /** Live memories of an owner, newest first. `now` leaves out the expired. */
  list(tenant: TenantId, scope: Scope, now: Millis, page: Page): Promise<Paged<Memory>>;
  /**
   * Memories of an owner that may have said something at a moment, whether they hold now or not, but not what is forgotten; newest
   * first. Whether one did, its versions tell.
   */
  around(tenant: TenantId, asked: { readonly scope: Scope; readonly at: Millis }, page: Page): Promise<Paged<Memory>>;
  /** All memories of an owner that are live, without paging: for deleting them. */
  liveIds(tenant: TenantId, scope: Scope): Promise<readonly string[]>;
  /** Every memory of the tenant in id order, for rebuilding an index. */
  every(after: string | null, limit: number): Promise<readonly Memory[]>;
  /** What leans on a memory. */
  leaning(lane: LaneId, id: string): Promise<Leaning>;
  /** Oldest first. */
  history(tenant: TenantId, id: string, page: Page): Promise<Paged<MemoryEvent>>;
  /** The versions of a memory as statements that ask about versions find them, by number: they must follow from its events. */
  storedVersions(tenant: TenantId, id: string): Promise<readonly MemoryVersion[]>;
  /** One event, of whichever memory. */
  event(tenant: TenantId, id: string): Promise<MemoryEvent | null>;
  /** The messages behind a memory's versions, with neighbours of the same lane that are not undone. */
  sources(
    tenant: TenantId,
    id: string,
    around: { before: number; after: number },
  ): Promise<readonly { message: Message; isSource: boolean }[]>;
  /** Source messages of several memories at once, by message id. */
  messages(tenant: TenantId, ids: readonly string[]): Promise<ReadonlyMap<string, Message>>;
  /** Who said these messages, by message id; without what they say. */
  speakers(tenant: TenantId, ids: readonly string[]): Promise<ReadonlyMap<string, Speaker>>;
}

/** Who said a message. */
export type Speaker = Pick<Message, 'role' | 'name'>;

/** An id under which a memory was said or confirmed, and when for the first and the last time. */
export interface SaidId {
  readonly kind: SaidKind;
  readonly id: string;
  readonly first: Millis;
  readonly last: Millis;
  /** It is among the newest of its kind: the index has it, too. */
  readonly indexed: boolean;
}

export interface SaidIdStore {
  /** Those of one memory, in any order. */
  of(tenant: TenantId, memoryId: string): Promise<readonly SaidId[]>;
  /** Memories of a lane that stand under any of these ids without the index knowing: each with the id. */
  beyondIndex(
    lane: LaneId,
    ids: readonly Pick<SaidId, 'kind' | 'id'>[],
  ): Promise<readonly (Pick<SaidId, 'kind' | 'id'> & { readonly memoryId: string })[]>;
  /** Live memories of whichever owners that stand under all of these ids, in the order of their own. `now` leaves out the expired. */
  memories(
    tenant: TenantId,
    asked: { readonly named: NamedIds; readonly now: Millis },
    page: Page,
  ): Promise<Paged<Memory>>;
  /** The ids that live memories of a tenant stand under, by kind and id. */
  list(tenant: TenantId, page: Page): Promise<Paged<UsedId>>;
}

/** An id under which live memories were said: of how many, and when for the first and the last time. */
export interface UsedId extends Pick<SaidId, 'kind' | 'id' | 'first' | 'last'> {
  readonly memories: number;
}

/** Ids of things of one owner; what another owner has is not there, whatever id it is asked for by. */
export interface OwnedIds {
  readonly tenant: TenantId;
  readonly owner: Owner;
  readonly ids: readonly string[];
}

export interface Reach {
  readonly before: number;
  readonly after: number;
  /** Neighbours of this app alone; null: of any. */
  readonly appId: string | null;
}

/** What a search adds to what it found: one call for all of it. */
export interface LookupStore {
  /** The newest `limit` events of each memory, oldest first, by its id. */
  histories(of: OwnedIds, limit: number): Promise<ReadonlyMap<string, readonly MemoryEvent[]>>;
  /** The scope that each of these messages was said in, by its id. */
  scopes(tenant: TenantId, messageIds: readonly string[]): Promise<ReadonlyMap<string, Scope>>;
  /** Each message with those said before and after it in its lane, in the order of arrival, by its id. What is undone is no neighbour. */
  around(of: OwnedIds, reach: Reach): Promise<ReadonlyMap<string, readonly Message[]>>;
}

/** Which memories of an owner are asked for. */
interface FilteredList {
  readonly scope: Scope;
  readonly where: Filter;
  /** Leaves out the expired. */
  readonly now: Millis;
}

/** Lists of what a filter is true of. */
export interface FilteredStore {
  /** As MemoryStore lists them: live memories of an owner, newest first; each page as full as it can be. */
  list(tenant: TenantId, asked: FilteredList, page: Page): Promise<Paged<Memory>>;
}

/** The rolling summary of a scope. */
export interface KeptSummary {
  readonly scope: Scope;
  readonly summary: string;
  readonly covers: Covered | null;
}

/** What there is of one lane, page by page: for exports. */
export interface ContentStore {
  /** In the order of arrival, those after a sequence. */
  messages(lane: LaneId, after: number, limit: number): Promise<readonly Message[]>;
  /** In the order of their ids, deleted ones too. */
  memories(lane: LaneId, after: string | null, limit: number): Promise<readonly Memory[]>;
  /** The rolling summaries of its scopes, where there are any. */
  summaries(lane: LaneId): Promise<readonly KeptSummary[]>;
}
