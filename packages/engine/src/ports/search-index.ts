import type { Filter } from '../search/filter/filter.ts';
import type {
  Conclusion,
  IdLists,
  JsonObject,
  LaneId,
  Millis,
  NamedIds,
  Owner,
  SaidAt,
  Scope,
  Skill,
  TenantId,
  Trust,
  UtcOffset,
} from '../words.ts';
import type { Compaction } from './ledger/erasures.ts';

/** What a lane has in the index, each with word statistics of its own: questions are asked of one of them. */
export const SHELVES = ['memories', 'messages', 'entities', 'relations'] as const;
export type Shelf = (typeof SHELVES)[number];

/** Apps to whom alone a memory was told, and apps to whom it was told as to others: of those, its text alone may find it. */
export interface ToldLast {
  readonly alone: readonly string[];
  readonly shared: readonly string[];
}

/** A memory version, a raw message, or what is in the graph, as the index holds it: enough to answer a search without the ledger. */
export interface IndexPoint {
  readonly shelf: Shelf;
  readonly tenant: TenantId;
  readonly lane: LaneId;
  readonly owner: Owner;
  readonly scope: Scope;
  /** The ids under which it was said or confirmed: of a memory all its versions', of each kind the newest (`IDS_IN_INDEX`). */
  readonly ids: IdLists;
  /** The apps of which it is what they were told last, if it is what any was; see memories/in-app.ts. */
  readonly toldLast?: ToldLast;
  /** On the other shelves: the id of the message, entity or relation, with version 1. */
  readonly memoryId: string;
  readonly version: number;
  /** The memory's revision when this was projected; an older one never replaces a newer one. */
  readonly revision: number;
  readonly text: string;
  /** Terms of the keyword leg: the text's own, made by the engine's tokenizer. */
  readonly terms: readonly string[];
  /** Terms of what it came from: its messages, what was said before them, the day. Only a wide question counts them. */
  readonly contextTerms: readonly string[];
  /** Who said it, where the message names somebody. */
  readonly speaker: string | null;
  readonly vector: Float32Array;
  /** What search shows: the memory's newest version by said_at, and not deleted; until that one begins, the one before. */
  readonly live: boolean;
  readonly saidAt: SaidAt;
  readonly validFrom: Millis;
  /** Since when questions about what holds see it, where it was said before it begins. Missing: since validFrom. */
  readonly shownFrom?: Millis;
  /** Of the local time in which it was said; missing: UTC. */
  readonly utcOffset?: UtcOffset;
  readonly invalidAt: Millis | null;
  readonly expiresAt: Millis | null;
  /** When the memory was deleted, if it was. */
  readonly deletedAt: SaidAt | null;
  readonly category: string | null;
  readonly metadata: JsonObject;
  readonly immutable: boolean;
  /** Whose word it is; entities and relations follow from what was said. */
  readonly trust: Trust;
  /** What it came from addresses the model. */
  readonly flagged: boolean;
  /** Missing: somebody said it. */
  readonly concluded?: Conclusion;
  /** Missing: it is none. */
  readonly skill?: Skill;
  /** What ratings and the outcomes of answers say of it, −1…1; see memories/ratings.ts. Missing: 0. */
  readonly feedback?: number;
  readonly sourceIds: readonly string[];
  readonly confirmations: number;
  readonly createdAt: Millis;
  readonly updatedAt: Millis;
}

/** A version that its memory has no more, since what it came from was undone, or that says nothing any more. */
export type Withdrawal = Pick<IndexPoint, 'shelf' | 'tenant' | 'owner' | 'lane' | 'memoryId' | 'version' | 'revision'>;

/** Where a point is. */
export type PointName = Omit<Withdrawal, 'revision'>;

/** Which versions a query sees. */
export type Visibility =
  /** What holds now. */
  | { readonly kind: 'live'; readonly now: Millis }
  /** What held then. */
  | { readonly kind: 'as_of'; readonly at: Millis }
  /** Every version there is, former, deleted and expired ones too; of those that began to hold by a moment, where one is named. */
  | { readonly kind: 'every'; readonly begunBy: Millis | null }
  /** What one app was told last of each memory, whether it holds or not. */
  | { readonly kind: 'told_last'; readonly appId: string; readonly among: keyof ToldLast }
  /** For decisions: what holds, and every former version said or deleted after a moment. */
  | { readonly kind: 'live_or_said_after'; readonly after: SaidAt };

/**
 * One question to the index. It always names one lane of one owner: there is no query without, and an owner's name alone finds
 * nothing, since whoever was erased may have had the same.
 */
export interface IndexQuery extends IndexLane {
  readonly shelf: Shelf;
  /** Ids beside the owner; they only filter. A point that was said under several is found by each. */
  readonly filter: NamedIds;
  /** What a caller asks for beside the scope; null asks for nothing. */
  readonly where: Filter | null;
  readonly visibility: Visibility;
  /** null leaves the leg out. */
  readonly vector: Float32Array | null;
  readonly terms: readonly string[] | null;
  /** Whether the keyword leg also counts what the points came from. Decisions ask about the texts alone. */
  readonly wide: boolean;
  /** Per leg. */
  readonly limit: number;
}

/** A point as it comes back: without what only finds it. */
export type ShownPoint = Omit<IndexPoint, 'vector' | 'terms' | 'contextTerms'>;

export function shownPart({ vector: _, terms: __, contextTerms: ___, ...shown }: IndexPoint): ShownPoint {
  return shown;
}

/** A point that either leg found, with its raw scores in all legs that were asked. */
export interface IndexHit {
  readonly point: ShownPoint;
  /** Cosine, −1…1; null where the question had no vector. */
  readonly vectorScore: number | null;
  /** BM25 over the lane's points on the shelf, ≥ 0; null where the point has no term of the question. */
  readonly keywordScore: number | null;
}

/** Says whose projection the index is: without it, or with another's, it must not be believed. */
export interface IndexMarker {
  readonly ledgerId: string;
  readonly fingerprint: string;
}

/** A part of an index that is read from end to end. */
export interface PointPage {
  readonly points: readonly IndexHit['point'][];
  /** null: there are no more. */
  readonly next: string | null;
}

/** The points of one lane. */
export interface IndexLane {
  readonly tenant: TenantId;
  /** Whose lane it was when they were written. */
  readonly owner: Owner;
  readonly lane: LaneId;
}

export interface SearchIndex {
  marker(): Promise<IndexMarker | null>;
  /** Claims an empty index for a ledger. */
  stamp(marker: IndexMarker): Promise<void>;
  /** Idempotent; one point per (memory, version); durable when it resolves. */
  upsert(points: readonly IndexPoint[]): Promise<void>;
  /**
   * These points are gone: no question finds them, and they count for nothing. Idempotent; a point of a newer revision
   * stays, and only a newer one brings a withdrawn point back. One that never was there may be named.
   */
  withdraw(withdrawals: readonly Withdrawal[]): Promise<void>;
  /** One answer per query, in order; each leg's best `limit`, ties by memory id and version. What one leg finds is scored in the other, too. */
  search(queries: readonly IndexQuery[]): Promise<readonly (readonly IndexHit[])[]>;
  /** Of each of these points the vector that it has here, at whatever revision; null: none, or one of zeros. */
  vectors(points: readonly PointName[]): Promise<readonly (Float32Array | null)[]>;
  /**
   * Every point of a lane gone, all versions on every shelf, whoever else has the owner's name by now. Idempotent; no search finds one
   * when it resolves. Answers with how many there were.
   */
  forget(of: IndexLane): Promise<number>;
  /** What was forgotten leaves the index's files. */
  compact(): Promise<Compaction>;
  /** Every point of the index gone, marker included. */
  clear(): Promise<void>;
  /** Points of a tenant on one shelf: memories, unless asked otherwise. */
  count(tenant: TenantId, shelf?: Shelf): Promise<number>;
  /**
   * Points of all tenants and shelves, each once, in an order of the index's own; `after` is the `next` of the page before. What is
   * written meanwhile may be in it or not.
   */
  page(after: string | null, limit: number): Promise<PointPage>;
  close(): Promise<void>;
}

/** How far a new index is. Kept in the new index itself: lost with it, never without it. */
export interface BuildNote {
  readonly ledgerId: string;
  readonly startedAt: Millis;
  /** The last memory of the first walk that is written for certain; null: none yet. */
  readonly after: string | null;
  /** The last batch of it whose messages are; null: none yet. Batches come after all memories. */
  readonly afterBatch: string | null;
  /** Memories behind it, and points written since the beginning. */
  readonly memories: number;
  readonly points: number;
  /** Lanes among them that were written by their words alone, to be projected once more at the end. Missing: none. */
  readonly byWords?: readonly LaneId[];
}

/** An index in the making beside the one in use. */
export interface IndexBuild {
  /** The note of a build for this ledger and vector space that did not come to its end; null: there is none. */
  begun(ledgerId: string): Promise<BuildNote | null>;
  /** Makes a new, empty one; what builds of others have left is thrown away. */
  begin(note: BuildNote): Promise<void>;
  /** As `upsert` of an index, into the new one, before and after it took over. */
  write(points: readonly IndexPoint[]): Promise<void>;
  /** As `forget` of an index, in the new one. */
  forget(of: IndexLane): Promise<number>;
  /** As `withdraw` of an index. */
  withdraw(withdrawals: readonly Withdrawal[]): Promise<void>;
  note(note: BuildNote): Promise<void>;
  /** From one moment to the next everybody uses the new one. It has no marker yet. Does nothing the second time. */
  takeOver(): Promise<void>;
  /** From now on it is believed; note and old index go. */
  finish(marker: IndexMarker): Promise<void>;
}
