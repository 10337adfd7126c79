import type { ToldLine } from '../../context/items.ts';
import type {
  Content,
  LaneId,
  Message,
  Millis,
  Owner,
  Placement,
  SaidAt,
  Scope,
  TenantId,
  Trust,
  UtcOffset,
} from '../../words.ts';
import type { SummaryRefresh } from '../schedule.ts';
import type { Terms } from './ledger.ts';
import type { SettledCall } from './usage.ts';

/** The messages that a summary was made of: the first, the last, and how many. Those between that were undone are none. */
export interface Covered {
  readonly firstMessageId: string;
  readonly lastMessageId: string;
  readonly messages: number;
}

/** Where a summary begins, how many messages it was made of, and whose they are. */
interface Extent {
  /** The sequence of the first message; null: there is no summary. */
  readonly from: number | null;
  readonly count: number;
  /**
   * The least sure of all that summaries of the scope were ever made of; null: of nothing. It outlasts the summary: what began
   * with that one may still be at work.
   */
  readonly trust: Trust | null;
}

/** What a refresh starts from, with what holds for its tenant. */
export interface SummaryBasis extends Terms, Extent {
  readonly tenant: TenantId;
  /** The summary so far; null where there is none, or it was forgotten. */
  readonly summary: string | null;
  /**
   * What was said since, oldest first: consolidated messages, each once, at most the newest `limit`. Messages behind
   * memories that are deleted by now are left out, unless they asked for the deletion.
   */
  readonly messages: readonly Message[];
  /** The sequence of the last consolidated message, which the new summary will cover. */
  readonly upTo: number;
  /** Goes up with every change of the summary: a refresh holds only for the one it read. */
  readonly revision: number;
}

export interface RefreshedSummary extends Extent {
  readonly tenant: TenantId;
  readonly summary: string | null;
  readonly upTo: number;
  /** Of the basis. */
  readonly revision: number;
  /** The call that made it, and is not settled yet; missing: no model was asked. */
  readonly call?: SettledCall;
}

/** Whom a call is counted to: a lane, or all of a tenant's owners together who have none. */
export type Account = { readonly lane: LaneId } | { readonly strangersOf: TenantId };

/**
 * The rolling summary of a scope: what later messages need to be understood. A consolidation reads the one that stood
 * when its window was pinned, so that a retry asks its model the same question.
 */
export interface SummaryStore {
  /** null: none is due any more. */
  read(refresh: SummaryRefresh, how: { every: number; limit: number }): Promise<SummaryBasis | null>;
  /** Stored only where the summary still is what it was read as: of two refreshes at once the first one counts. Its call is settled in any case. */
  store(refresh: SummaryRefresh, refreshed: RefreshedSummary): Promise<{ readonly kind: 'stored' | 'overtaken' }>;
}

/** A message that is not consolidated yet. */
export interface PendingMessage extends Omit<Message, 'content' | 'resent'> {
  /** null: longer than was asked for. */
  readonly content: Content | null;
}

/** How much is read at most: a backlog may be as long as it likes. */
export interface PresentLimits {
  readonly messages: number;
  /** The longest content of one message, in bytes as it is stored. */
  readonly longest: number;
}

/** What is being said: no memory says it yet. */
export interface Conversation {
  /** The newest rolling summary of the scopes that were asked for. */
  readonly summary: string | null;
  /** null: there is no summary. */
  readonly covers: Covered | null;
  /** The newest messages that wait or are being consolidated, each once, in the order they were said. */
  readonly pending: readonly PendingMessage[];
  /** There are older ones. */
  readonly more: boolean;
}

/** A fact that holds, as a profile shows it. */
export interface ProfileFact {
  readonly memoryId: string;
  readonly version: number;
  readonly text: string;
  readonly saidAt: SaidAt;
  readonly validFrom: Millis;
  /** Of the local time in which it was said; missing: UTC. */
  readonly utcOffset?: UtcOffset;
  readonly category: string | null;
  readonly placed: Placement | null;
}

/**
 * What a chat backend needs to know at once of an owner: for prompts, between two turns. Few rows by an index each, for
 * somebody waits. The ids of the scope beside the owner only filter.
 */
export interface PresentStore {
  /** What was said now comes before old conversations that are brought in, where there is not room for all. */
  conversation(tenant: TenantId, scope: Scope, limits: PresentLimits): Promise<Conversation>;
  /** The facts with the highest profile rank, those known longest first among equals; that hold now and held at a moment. */
  profile(tenant: TenantId, scope: Scope, how: { at: Millis; limit: number }): Promise<readonly ProfileFact[]>;
  /** What a conversation of the owner was told last, in order; nothing of one that is not known. */
  told(tenant: TenantId, owner: Owner, conversation: string): Promise<readonly ToldLine[]>;
  /** Takes the place of what it was told before. Of an owner who is not there, or was erased, nothing is kept. */
  tell(tenant: TenantId, owner: Owner, telling: Telling): Promise<void>;
  /** At most `limit` conversations that were told nothing since a moment are forgotten. Returns how many. */
  forgetTold(before: Millis, limit: number): Promise<number>;
}

/** What a conversation was told: ids and versions, and nothing of what they say. */
export interface Telling {
  readonly conversation: string;
  readonly told: readonly ToldLine[];
  readonly now: Millis;
}
