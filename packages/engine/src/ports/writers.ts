import type { Entity, EntityKind, KeptRelation } from '../graph/words.ts';
import type { Filter } from '../search/filter/filter.ts';
import type {
  JsonObject,
  LaneId,
  Memory,
  Millis,
  NamedIds,
  Owner,
  Placement,
  Rating,
  Scope,
  TenantId,
  Trust,
} from '../words.ts';
import type { Review, ReviewState, Undo } from './ledger/feedback.ts';
import type { Leaning } from './ledger/memories.ts';
import type { NightRecord, NightState } from './ledger/nights.ts';
import type { Cancellation } from './tools.ts';

/** A memory somebody writes themselves, without a conversation. */
export interface NewMemory {
  readonly scope: Scope;
  readonly text: string;
  readonly metadata: JsonObject;
  readonly category: string | null;
  readonly immutable: boolean;
  readonly pinned?: boolean;
  /** In the profile of the user; by a person. */
  readonly placed?: Placement;
  /** Whose word it is. Missing: of who writes it. */
  readonly trust?: Trust;
  /** When it began to hold; null: now. */
  readonly validFrom: Millis | null;
  readonly expiresAt: Millis | null;
}

/** What shall be different; what is left out stays as it is. */
export interface MemoryPatch {
  readonly text?: string;
  readonly metadata?: JsonObject;
  readonly category?: string | null;
  readonly immutable?: boolean;
  readonly pinned?: boolean;
  readonly placed?: Placement;
  /** Who stands behind it as well. Missing: whoever did, or of another text who writes it. */
  readonly trust?: Trust;
  readonly expiresAt?: Millis | null;
  /** Change it only if this is still its newest version. */
  readonly expectedVersion?: number;
}

export type Refusal =
  /** No such memory of this tenant, or it was deleted. */
  | { readonly kind: 'not_found' }
  /** Changed by somebody else in between, or not at the expected version. */
  | { readonly kind: 'conflict' }
  | { readonly kind: 'immutable' }
  /** The memory never said anything under this number. */
  | { readonly kind: 'no_version' }
  /** Retention has removed what it said under this number. */
  | { readonly kind: 'removed' };

export type WriteResult =
  /** In the ledger, and searchable. */
  | { readonly kind: 'written'; readonly memory: Memory }
  /** In the ledger, and found by its words: the embedder refuses it for good, or did not answer in time. */
  | { readonly kind: 'words'; readonly memory: Memory }
  /** In the ledger; searchable once the index is back. */
  | { readonly kind: 'unprojected'; readonly memory: Memory }
  | Refusal;

/** Which live memories of an owner are removed together. */
interface RemoveAllHow {
  /** Who asks is kept to the app of the scope, and what others were told, too, stays. */
  readonly ownApp?: boolean;
  /** Those alone that this is true of; null: all. */
  readonly where?: Filter | null;
  /** Nothing is changed. */
  readonly dryRun?: boolean;
  /** How many of them the answer names. */
  readonly named?: number;
}

export type RemoveAllResult =
  | {
      readonly kind: 'written' | 'unprojected';
      /** How many are removed, or would be. */
      readonly count: number;
      /** The first of them, as they were. */
      readonly first: readonly Memory[];
    }
  | { readonly kind: 'conflict' };

/** What falls with a memory that is forgotten. */
export interface Fall extends Pick<Leaning, 'messages'> {
  /** Relations and entities that lean on it alone. */
  readonly relations: readonly { readonly id: string; readonly text: string }[];
  readonly entities: readonly { readonly id: string; readonly name: string }[];
  /** Relations that others say as well: they stay. */
  readonly weakened: readonly { readonly id: string; readonly text: string }[];
  /** How many summaries are dropped, to be made anew. */
  readonly summaries: number;
}

/** What somebody thinks of a memory. */
export interface NewFeedback {
  /** null takes back what was said before. */
  readonly rating: Rating | null;
  readonly reason: string | null;
  /** The version that is meant. Missing: the one that is shown. */
  readonly version?: number;
  /** Who rates knows the memory as this app does; null: all of it. */
  readonly appId: string | null;
}

/** Explicit writes: no model; one ledger transaction, then projected before they are answered. */
export interface MemoryWriter {
  add(tenant: TenantId, memory: NewMemory): Promise<WriteResult>;
  change(tenant: TenantId, id: string, patch: MemoryPatch): Promise<WriteResult>;
  /** A former version's text and details hold again, from now on; of a deleted or undone memory as well. */
  restore(tenant: TenantId, id: string, version: number): Promise<WriteResult>;
  remove(tenant: TenantId, id: string): Promise<WriteResult>;
  /** What would fall with a memory that were removed now; null: there is no such memory that holds. */
  fallOf(tenant: TenantId, id: string): Promise<Fall | null>;
  /** Every live memory of an owner that also fits the other ids of the scope. */
  removeAll(tenant: TenantId, scope: Scope, how?: RemoveAllHow): Promise<RemoveAllResult>;
}

/** How what was said under some ids is withdrawn. */
export interface WithdrawHow {
  /** Nothing is changed, and all of it is counted. */
  readonly dryRun: boolean;
  /** About how many memories are changed at most. */
  readonly most: number;
  /** How many of those that go the answer names. */
  readonly listed: number;
}

export interface Withdrawn {
  /** Memories that nobody said elsewhere: they are forgotten. */
  readonly deleted: number;
  /** Those that were said elsewhere, too: they stay as they were said there. */
  readonly kept: number;
  /** The first of the deleted, as they were. */
  readonly first: readonly Memory[];
  /** There are others: whoever asks again goes on. */
  readonly more: boolean;
  readonly searchable: boolean;
}

export interface Withdrawer {
  /** Takes back what was said under all of these ids, at least one. */
  withdraw(tenant: TenantId, named: NamedIds, how: WithdrawHow): Promise<Withdrawn>;
}

/** Ratings: an event each, which changes where a memory is found and not what it says. */
export interface Rater {
  /** What is rated very badly is proposed to be deleted. The same again changes nothing. */
  rate(tenant: TenantId, id: string, feedback: NewFeedback): Promise<WriteResult>;
}

/** An entity somebody names: one that is there, or one that is made with the statement. */
export type EntityGiven =
  | { readonly kind: 'id'; readonly id: string }
  | { readonly kind: 'name'; readonly name: string; readonly of: EntityKind | null }
  | { readonly kind: 'self' };

export interface NewRelation {
  readonly source: EntityGiven;
  readonly relationship: string;
  readonly destination: EntityGiven;
  /** null: from now on. */
  readonly validFrom: Millis | null;
  /** It held until then; null: it holds. */
  readonly until: Millis | null;
  /** null: as its relationship is. */
  readonly single: boolean | null;
  readonly quote: string | null;
}

/** What shall be different; what is left out stays as it is. */
export interface RelationPatch {
  readonly source?: EntityGiven;
  readonly relationship?: string;
  readonly destination?: EntityGiven;
  readonly validFrom?: Millis;
  /** null: it holds after all. */
  readonly invalidAt?: Millis | null;
  readonly reason?: string;
}

export type GraphRefusal =
  | { readonly kind: 'not_found'; readonly what: 'entity' | 'relation'; readonly id: string }
  /** Several entities are called so. */
  | { readonly kind: 'ambiguous'; readonly name: string; readonly ids: readonly string[] }
  /** It cannot be so; `why` says what to do. */
  | { readonly kind: 'refused'; readonly why: string }
  /** The owner was erased meanwhile, or somebody changed the same. */
  | { readonly kind: 'conflict' };

export type GraphWritten<T> =
  /** searchable: false: stored, and found once the index is back. */
  { readonly kind: 'written'; readonly value: T; readonly searchable: boolean } | GraphRefusal;

export interface ChangedRelation {
  readonly relation: KeptRelation;
  /** The id it had before, where it was said anew. */
  readonly replaces: string | null;
}

/** Explicit changes of a graph: each is one or more statements, in one transaction, projected before it is answered. */
export interface GraphWriter {
  relate(tenant: TenantId, owner: Owner, relation: NewRelation): Promise<GraphWritten<KeptRelation>>;
  change(tenant: TenantId, id: string, patch: RelationPatch): Promise<GraphWritten<ChangedRelation>>;
  /** It never was: nothing said before shows it again. */
  remove(tenant: TenantId, id: string): Promise<GraphWritten<KeptRelation>>;
  /** One entity is the same as another, which stays. */
  merge(
    tenant: TenantId,
    id: string,
    how: { readonly into: string; readonly reason: string },
  ): Promise<GraphWritten<Entity>>;
  /** It stands for itself, and is proposed to be nobody else. */
  split(tenant: TenantId, id: string): Promise<GraphWritten<Entity>>;
  /** It is also called so. */
  call(tenant: TenantId, id: string, alias: string): Promise<GraphWritten<Entity>>;
}

export type ReviewResult =
  /** It is over now: approved, rejected or stale. Not searchable: in the ledger, and found once the index is back. */
  | { readonly kind: 'settled'; readonly review: Review; readonly searchable: boolean }
  | { readonly kind: 'not_found' }
  /** It was settled before; nothing was changed. */
  | { readonly kind: 'over'; readonly state: ReviewState }
  /** It deletes what another review would add: that one comes first. */
  | { readonly kind: 'early'; readonly first: string }
  /** Another text was given for a deletion, which has none. */
  | { readonly kind: 'no_text' }
  /** Something else kept changing the memory in between. */
  | { readonly kind: 'conflict' };

/** A person's word on operations that wait. */
export interface Reviewer {
  /**
   * Carries the operation out as if it had been when its fact was said, with another text where one is given. Too late for that: the
   * review is stale.
   */
  approve(tenant: TenantId, id: string, text?: string): Promise<ReviewResult>;
  reject(tenant: TenantId, id: string): Promise<ReviewResult>;
}

export type NightResult =
  /** It is over now: applied, discarded or stale. Not searchable: in the ledger, and found once the index is back. */
  | { readonly kind: 'settled'; readonly night: NightRecord; readonly searchable: boolean }
  | { readonly kind: 'not_found' }
  /** It does not wait any more, or never did; nothing was changed. */
  | { readonly kind: 'over'; readonly state: NightState };

/** A person's word on the plan of a night that waits. */
export interface NightSettler {
  /** Carries it out as it was planned. Too late for that, since its memories have changed: the night is stale. */
  apply(tenant: TenantId, id: string): Promise<NightResult>;
  discard(tenant: TenantId, id: string): Promise<NightResult>;
  /** What would be remembered of an owner who had never slept. Reads only. */
  without(tenant: TenantId, owner: Owner): Promise<UndoResult>;
}

/** A memory that does not hold what it held before; null: nothing. */
export interface Difference {
  readonly memoryId: string;
  readonly before: string | null;
  readonly after: string | null;
}

/** Something that came later and changed or confirmed a memory that would be taken back under it. */
export interface Dependent {
  readonly kind: 'consolidation' | 'write';
  /** Of the consolidation, or of the explicit write's event. */
  readonly id: string;
  readonly memoryIds: readonly string[];
}

/** What an undo has changed, or would change. */
export interface UndoReport {
  /** null: nothing was written. */
  readonly undo: Undo | null;
  readonly differences: readonly Difference[];
  /** Consolidations that are undone by it, and those that count again. */
  readonly undone: readonly string[];
  readonly redone: readonly string[];
  /** What is undone with it, since it came later and depends on it. */
  readonly dependents: readonly Dependent[];
}

export type UndoResult =
  | { readonly kind: 'done'; readonly report: UndoReport; readonly searchable: boolean }
  /** Nothing was changed: these would have to be undone with it. */
  | { readonly kind: 'dependents'; readonly dependents: readonly Dependent[] }
  | { readonly kind: 'not_found' }
  /** It is not in a state in which this can be done. */
  | { readonly kind: 'refused'; readonly why: string }
  /** Nothing was changed: these memories would hold again what retention has removed. */
  | { readonly kind: 'removed'; readonly memoryIds: readonly string[] }
  /** Other changes kept coming in between. */
  | { readonly kind: 'conflict' };

/** Takes back what was done, by further events; nothing of the history goes. The index follows before the answer. */
export interface Undoer {
  /** One consolidation, with `cascade` also what depends on it. A dry run shows all of that, whatever `cascade` says. */
  undo(tenant: TenantId, consolidationId: string, how: { cascade: boolean; dryRun: boolean }): Promise<UndoResult>;
  /** Everything recorded of an owner after a time: of consolidations, explicit writes and undos. */
  rollback(tenant: TenantId, owner: Owner, how: { to: Millis; dryRun: boolean }): Promise<UndoResult>;
  /** An undo or a rollback, which then counts no longer. */
  redo(tenant: TenantId, undoId: string, how: { dryRun: boolean }): Promise<UndoResult>;
}

/** The queue of erasures, as far as the engine needs it. Holds ids; to lose it loses nothing: the sweep asks again. */
export interface ErasureQueue {
  /** Idempotent per erasure. */
  erase(ids: readonly string[]): Promise<void>;
  /** Whatever the queues hold or have kept of a lane goes; what runs just now ends by itself. */
  forgetLane(lane: LaneId): Promise<void>;
}

/** What a worker answers for one job: null when the erasure is over, else when to come back. */
export type ErasureHandler = (id: string, cancel: Cancellation) => Promise<Millis | null>;
