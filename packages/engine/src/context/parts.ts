import type { PendingMessage } from '../ports/ledger/summaries.ts';
import type { Millis, UtcOffset } from '../words.ts';
import type { Item } from './assemble.ts';
import type { Prepared } from './items.ts';

export const SECTIONS = ['profile', 'summary', 'memories', 'relations', 'pending'] as const;
/** In the order in which a prompt is told them: from what changes least to what was said last. */
export type SectionName = (typeof SECTIONS)[number];

/** A memory version that a prompt may be told. */
export interface KnownFact {
  readonly memoryId: string;
  readonly version: number;
  readonly text: string;
  readonly saidAt: Millis;
  readonly validFrom: Millis;
  /** Of the local time in which it was said; missing: UTC. */
  readonly utcOffset?: UtcOffset;
}

/** A relation of the graph that a prompt may be told. */
export interface KnownRelation {
  /** How it reads: "Ana works at Acme". */
  readonly text: string;
  readonly validFrom: Millis;
}

/** What there is to tell. */
export interface ContextParts {
  /** The most settled first. */
  readonly profile: readonly KnownFact[];
  /** The best first. */
  readonly memories: readonly KnownFact[];
  /** The best first. */
  readonly relations: readonly KnownRelation[];
  readonly summary: string | null;
  /** In the order they were said. */
  readonly pending: readonly PendingMessage[];
}

/** A turn the caller has in its prompt anyway. */
export interface GivenMessage {
  readonly clientId: string | null;
  readonly role: string;
  readonly text: string;
}

export interface ContextAsk {
  readonly maxTokens: number;
  /** text: one block. turns: a block, and pending messages as turns of their own. */
  readonly form: 'text' | 'turns';
  /** Whether turns have to take turns, and begin with the user's. */
  readonly alternating: boolean;
  readonly given: readonly GivenMessage[];
}

interface Line<Kind extends SectionName> extends Item {
  readonly section: Kind;
  /** As it will stand in the block, without its citation mark. */
  readonly line: string;
}

export interface FactItem extends Line<'profile' | 'memories'> {
  readonly fact: KnownFact;
  readonly prepared: Prepared;
}
export type SummaryItem = Line<'summary'>;
export type RelationItem = Line<'relations'>;
export interface PendingItem extends Line<'pending'> {
  readonly message: PendingMessage;
  /** Its text as it is told. */
  readonly text: string;
  readonly isCut: boolean;
}
export type ContextItem = FactItem | SummaryItem | RelationItem | PendingItem;

/** A turn of a chat. */
export interface ChatTurn {
  readonly role: 'user' | 'assistant';
  readonly content: string;
}

export interface Citation {
  /** m1, m2, … as the block marks them. */
  readonly ref: string;
  readonly section: 'profile' | 'memories';
  readonly fact: KnownFact;
}

/** A block, and what it was made of. */
export interface AssembledContext {
  /** Empty where there is nothing to tell. */
  readonly block: string;
  /** Of the form `turns`. */
  readonly turns: readonly ChatTurn[];
  readonly tokens: number;
  readonly citations: readonly Citation[];
  readonly pending: readonly PendingItem[];
  /** How many items of each section are told, and how many are not, for want of room or being told already. */
  readonly sections: Readonly<Record<SectionName, { readonly shown: number; readonly leftOut: number }>>;
}
