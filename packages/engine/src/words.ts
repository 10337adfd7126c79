/**
 * The domain's own values. Its words are in ARCHITECTURE.md; besides:
 *
 * said_at        when a thing was said; it orders. valid_from (the resolved date) is for display and as_of
 * clock          what the speaker's own clock showed when a message was said; models are shown that, never said_at
 */

export type TenantId = string & { readonly brand: 'TenantId' };
export type LaneId = string & { readonly brand: 'LaneId' };
/** 16 bits of an owner's hash, which the ids of all its things carry. */
export type OwnerBits = number & { readonly brand: 'OwnerBits' };

/** Milliseconds since 1970, UTC. */
export type Millis = number;

/** The one tenant of an installation without tenants of its own. */
export const DEFAULT_TENANT = 'default' as TenantId;

export type OwnerKind = 'user' | 'agent' | 'run';
export interface Owner {
  readonly kind: OwnerKind;
  readonly id: string;
}

export interface Scope {
  readonly userId: string | null;
  readonly agentId: string | null;
  readonly runId: string | null;
  readonly appId: string | null;
}

/** The ids under which a thing is said, beside its user's. */
export type Under = Pick<Scope, 'agentId' | 'runId' | 'appId'>;

/** The ids under which a thing was said, once or again and again. */
export type IdLists = Readonly<Record<keyof Under, readonly string[]>>;

export const underOf = ({ agentId, runId, appId }: Scope): Under => ({ agentId, runId, appId });

/** The first given of user, agent, run. A scope without any is a mistake of the caller's. */
export function ownerOf(scope: Scope): Owner {
  if (scope.userId !== null) return { kind: 'user', id: scope.userId };
  if (scope.agentId !== null) return { kind: 'agent', id: scope.agentId };
  if (scope.runId !== null) return { kind: 'run', id: scope.runId };
  throw new Error('a scope needs at least one of user, agent, run');
}

/** The ids that a scope names beside its owner: they only filter. */
export interface NamedIds {
  readonly agentId?: string;
  readonly runId?: string;
  readonly appId?: string;
}

export function besideOwner(scope: Scope): NamedIds {
  const { agentId, runId, appId } = scope;
  const { kind } = ownerOf(scope);
  return {
    ...(kind === 'user' && agentId !== null && { agentId }),
    ...(kind !== 'run' && runId !== null && { runId }),
    ...(appId !== null && { appId }),
  };
}

/** Whether something that was said under some ids was said under those named. */
export const isUnder = (ids: IdLists, named: NamedIds): boolean =>
  (named.agentId === undefined || ids.agentId.includes(named.agentId)) &&
  (named.runId === undefined || ids.runId.includes(named.runId)) &&
  (named.appId === undefined || ids.appId.includes(named.appId));

/** When a thing was said: the moment, then the order of arrival in the lane. */
export interface SaidAt {
  readonly at: Millis;
  readonly seq: number;
}

export const compareSaid = (a: SaidAt, b: SaidAt): number => a.at - b.at || a.seq - b.seq;
export const saidBefore = (a: SaidAt, b: SaidAt): boolean => compareSaid(a, b) < 0;

/** Minutes that a local time is ahead of UTC. */
export type UtcOffset = number;

/** What the speaker's own clock showed, where that is known to differ from `saidAt`, which only orders, or from UTC. */
export interface SpeakersClock {
  readonly at: Millis;
  readonly offset: UtcOffset;
}

/** JSON as it travels. */
export type Json = string | number | boolean | null | Json[] | { [key: string]: Json };
export type JsonObject = { [key: string]: Json };

export type Role = 'user' | 'assistant' | 'system' | 'tool';
export type ContentPart =
  | { readonly type: 'text'; readonly text: string }
  | {
      readonly type: 'image_url';
      readonly image_url: { readonly url: string; readonly detail?: 'auto' | 'low' | 'high' | undefined };
    };

/**
 * Whose word a thing rests on, the surest first. What each of them means, and what follows from it, is in
 * docs/decisions/0035-whose-word-it-is.md.
 */
export const TRUSTS = ['user', 'imported', 'agent', 'tool', 'inferred', 'external'] as const;
export type Trust = (typeof TRUSTS)[number];
/** How a message can be marked: as what a tool of the caller's own printed, or as what nobody here answers for. */
export type MarkedTrust = Extract<Trust, 'tool' | 'external'>;

/** In place of a message's content, where nothing of it is kept. It is no text, since whatever somebody says is a text. */
export interface Withheld {
  readonly withheld: 'retention' | 'personal_data' | 'forgotten' | 'paused';
  /** The kinds of personal data it held. */
  readonly kinds?: readonly string[];
}
export type Content = string | readonly ContentPart[] | Withheld;

export const isWithheld = (content: Content): content is Withheld =>
  typeof content === 'object' && 'withheld' in content;

export interface Message {
  readonly id: string;
  readonly batchId: string;
  readonly clientId: string | null;
  readonly role: Role;
  readonly content: Content;
  readonly name: string | null;
  /** What who posted it says of where it is from. Missing: what its role says. */
  readonly trust?: MarkedTrust;
  readonly saidAt: SaidAt;
  /** Missing: as saidAt, in UTC. */
  readonly clock?: SpeakersClock;
  /** Already seen in this scope under the same client id: context, not new. */
  readonly resent: boolean;
  /** The content does not say all that was said: what came of the rest is forgotten. See memories/forgotten.ts. */
  readonly hidden?: true;
}

/**
 * What becomes of what was said: facts that change what is remembered, facts that are only added, the messages word for word
 * (no model is asked), or one record of what an agent did.
 */
type BatchMode = 'decide' | 'add_only' | 'verbatim' | 'procedural';

/** What a batch asks of its consolidation. Batches with equal settings and scope may share one. */
export interface BatchSettings {
  readonly mode: BatchMode;
  readonly instructions: string | null;
  readonly includes: string | null;
  readonly excludes: string | null;
  readonly expiresAt: Millis | null;
  /** What its facts are sorted into. Missing: as the tenant's settings say. */
  readonly categories?: readonly string[];
  /** Whether relations are kept of it. Missing: as the tenant's settings say. */
  readonly graph?: boolean;
  /** Copies of what was not consolidated together are not either. Missing: it may be with what is alike. */
  readonly window?: number;
  /** Posted with a key for one app: its consolidation sees and changes memories of that app alone. */
  readonly ownAppOnly?: true;
}

/** Whether facts are extracted: the other modes ask no model, or for one record. */
export const hasFacts = ({ mode }: Pick<BatchSettings, 'mode'>): boolean => mode === 'decide' || mode === 'add_only';

/** What goes first: what is being said now, or old conversations that are brought in. */
export type Priority = 'live' | 'backfill';

export type BatchState = 'pending' | 'consolidating' | 'consolidated' | 'empty' | 'parked' | 'undone';
export type BatchStage = 'waiting' | 'extract' | 'decide' | 'apply' | 'project' | 'done';

export interface Failure {
  readonly code: string;
  readonly message: string;
  readonly at: Millis;
}

export type EventKind = 'ADD' | 'UPDATE' | 'DELETE' | 'NONE';
export const EVENT_KINDS: readonly EventKind[] = ['ADD', 'UPDATE', 'DELETE', 'NONE'];

/** One state of a memory's text. `number` is the revision that brought it; saidAt orders validity. */
export interface MemoryVersion {
  readonly number: number;
  readonly text: string;
  readonly saidAt: SaidAt;
  /** The resolved date of the fact, else when it was said. */
  readonly validFrom: Millis;
  /** When it stopped holding, null while it holds. Never before validFrom. */
  readonly invalidAt: Millis | null;
  /** The version that took its place, null when none did. */
  readonly supersededBy: number | null;
  readonly details: VersionDetails;
  /** When this version was recorded. */
  readonly recordedAt: Millis;
}

/** What a version carries beside its text; only for reading, never for deciding. */
export interface VersionDetails {
  readonly category: string | null;
  readonly language: string | null;
  readonly about: 'user' | 'agent';
  /** The least of what it came from; of a version, the best of all who said it. */
  readonly trust: Trust;
  /** A message it came from addresses the model. Missing: none does. */
  readonly flagged?: true;
  readonly quote: string | null;
  /** Of the local time in which it was said; missing: UTC. */
  readonly utcOffset?: UtcOffset;
  /** Ledger ids of the messages it came from; empty for explicit writes. */
  readonly sourceIds: readonly string[];
  readonly metadata: JsonObject;
  readonly immutable: boolean;
  /** A night found that nobody needs it: it ranks lower until it is said again. Missing: it did not. */
  readonly faded?: true;
  /** A procedure that went well again and again, by what became of the answers that told it. Missing: it is none. */
  readonly skill?: Skill;
  /** Nobody said it: a night concluded it. Missing: somebody did. */
  readonly concluded?: Conclusion;
  /** It tells what a run came to, by the state in which it ended. Missing: it does not. */
  readonly task?: TaskSource;
  /** Its place in the profile of its owner. A mark alone has it: where the memory stands follows from all of them. Missing: not said. */
  readonly placed?: Placement;
  /** No policy forgets it. Said by who writes explicitly; where it is not said, what was said before counts. */
  readonly pinned?: boolean;
  readonly expiresAt: Millis | null;
  /** Retention has removed text, quote and metadata; by this the text can be distinguished from the others of its memory. */
  readonly removed?: string;
}

/** A place in a profile. slot null: a person took it out. */
export interface Placement {
  readonly slot: string | null;
  readonly by: 'person' | 'night';
}

/** One version of what a run works on. */
export interface TaskSource {
  readonly runId: string;
  readonly version: number;
}

/** How sure a conclusion is, the least sure first. How many pieces of evidence each of them needs is in memories/conclusions.ts. */
export const CERTAINTIES = ['low', 'medium', 'high'] as const;
export type Certainty = (typeof CERTAINTIES)[number];

/** What a conclusion rests on. It stands while enough of that holds, and falls otherwise. */
export interface Conclusion {
  readonly certainty: Certainty;
  readonly from: readonly Piece[];
}

/** What makes a procedure a skill. */
export interface Skill {
  /** Answers that told it and went well, when it became one. */
  readonly successes: number;
}

/** One piece of evidence: a memory as it reads in one version. */
export interface Piece {
  readonly memoryId: string;
  readonly version: number;
}

/** What somebody thinks of a version of a memory. */
export const RATINGS = ['positive', 'negative', 'very_negative'] as const;
export type Rating = (typeof RATINGS)[number];

/** A version by its number, or by that of a mark that says the same, and what it was rated; null: a rating was taken back. */
export interface Rated {
  readonly version: number;
  readonly rating: Rating | null;
}

/** One thing said of a memory: that it holds, with this text, or that it no longer does. Or that it was not to be said. */
export type Mark =
  | {
      readonly kind: 'said';
      readonly revision: number;
      readonly text: string;
      readonly saidAt: SaidAt;
      readonly validFrom: Millis;
      readonly details: VersionDetails;
      /** Only said again: its details do not replace those of what it confirms. */
      readonly confirms: boolean;
      /** Missing: the memory was changed as it is, wherever it was said. */
      readonly under?: Under;
      readonly recordedAt: Millis;
    }
  | {
      readonly kind: 'deleted';
      readonly revision: number;
      readonly saidAt: SaidAt;
      readonly recordedAt: Millis;
      readonly forgets?: true;
      readonly merged?: true;
    }
  /** Changes nothing of what the memory says. */
  | ({
      readonly kind: 'rated';
      readonly revision: number;
      /** Who was kept to one app said so. Missing: an owner's key. */
      readonly under?: Under;
      readonly recordedAt: Millis;
    } & Rated)
  /** Earlier marks of this memory that no longer count, as long as this one does; see memories/evolve.ts. */
  | {
      readonly kind: 'retracted';
      readonly revision: number;
      readonly retracts: readonly number[];
      /** No undo: what a conclusion rests on is gone, or there again. */
      readonly turns?: true;
      readonly recordedAt: Millis;
    };

/** A memory with all its versions, as its events left it. */
export interface Memory {
  readonly id: string;
  readonly tenant: TenantId;
  readonly lane: LaneId;
  readonly owner: Owner;
  readonly scope: Scope;
  /** None while everything that was said of it is undone. */
  readonly versions: readonly MemoryVersion[];
  /** Everything ever said of it, in the order of arrival; the versions follow from it. The ledger keeps it; retention empties it. */
  readonly timeline: readonly Mark[];
  readonly confirmations: number;
  readonly lastConfirmedAt: Millis | null;
  /** How many events made it; what an operation was decided on. */
  readonly revision: number;
  readonly createdAt: Millis;
  readonly updatedAt: Millis;
}

/**
 * The actor of an event: a consolidation, an explicit write by API, a person who approved what a consolidation wished, an
 * undo, a rollback, a tenant's policy of forgetting, or a night.
 */
type Actor = 'consolidation' | 'api' | 'review' | 'undo' | 'rollback' | 'policy' | 'sleep';

/** What an event takes back: earlier events of the same memory, by their revisions. */
export interface Retraction {
  /** The undo it is part of. null: of none, what a conclusion rests on is gone or there again. */
  readonly undoId: string | null;
  readonly retracts: readonly number[];
}

export interface MemoryEvent {
  readonly id: string;
  readonly memoryId: string;
  /** 1 for the first event of a memory, without gaps. */
  readonly revision: number;
  readonly kind: EventKind | 'UNDO' | 'FEEDBACK';
  readonly actor: Actor;
  readonly consolidationId: string | null;
  readonly factId: string | null;
  readonly reason: string;
  /** The text that held before, if one did. */
  readonly previous: string | null;
  /** Of a DELETE whose `previous` retention has removed: the hash that its tombstone blocks by. */
  readonly previousHash?: string;
  readonly saidAt: SaidAt;
  readonly validFrom: Millis;
  readonly recordedAt: Millis;
  /** What was said, or confirmed by NONE; null for DELETE, UNDO and FEEDBACK. */
  readonly text: string | null;
  readonly details: VersionDetails | null;
  /** The ids under which it was said. Missing: of explicit changes, undos and policies, which are of the memory wherever it was said. */
  readonly under?: Under;
  /** Ledger ids of the messages behind this event; empty for explicit writes. */
  readonly sourceIds: readonly string[];
  /** Of UNDO alone. */
  readonly retraction?: Retraction;
  /** Of FEEDBACK alone. */
  readonly rated?: Rated;
  /** Of DELETE alone: nobody is to find again what it ends. Missing: it no longer holds, but did. */
  readonly forgets?: true;
  /** Of DELETE alone: another memory has all of its sayings, and alone is found. */
  readonly merged?: true;
}
