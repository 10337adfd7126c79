import type { Content, Message, Millis, SaidAt, Scope, TenantId, UtcOffset } from '../../words.ts';

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

/** What is being said: no memory tells it yet. */
export interface Conversation {
  /** The newest rolling summary of the scopes that were asked for. */
  readonly summary: string | null;
  /** The newest messages that wait or are being consolidated, each once, in the order they were said. */
  readonly pending: readonly PendingMessage[];
  /** There are older ones. */
  readonly more: boolean;
}

/** A fact that holds, as a profile tells it. */
export interface ProfileFact {
  readonly memoryId: string;
  readonly version: number;
  readonly text: string;
  readonly saidAt: SaidAt;
  readonly validFrom: Millis;
  /** Of the local time in which it was said; missing: UTC. */
  readonly utcOffset?: UtcOffset;
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
}
