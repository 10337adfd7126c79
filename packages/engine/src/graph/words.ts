import type { JsonObject, LaneId, Millis, Owner, SaidAt, TenantId } from '../words.ts';

/**
 * The words of the graph.
 *
 * entity      somebody or something of an owner's world that relations are about. One of each owner is the owner itself
 * statement   one thing that was said about the graph, kept for ever unless it is erased: that a relation holds or ended,
 *             that it never was, that two entities are one or are not, or how an entity is also called
 * relation    what follows from the statements that count: a source, a relationship, a destination, and how long it held
 * study       the turn of the graph for one applied consolidation: it reads the same messages and adds statements
 *
 * Statements are the truth; relations, names and merges follow from those that count (graph/fold.ts). To undo is to let a
 * statement count no longer.
 */

/** What an entity is; a model's other words become 'thing'. */
export const ENTITY_KINDS = [
  'person',
  'animal',
  'organisation',
  'place',
  'product',
  'work',
  'event',
  'activity',
  'concept',
  'thing',
] as const;
export type EntityKind = (typeof ENTITY_KINDS)[number];

export interface Entity {
  readonly id: string;
  readonly tenant: TenantId;
  readonly lane: LaneId;
  readonly owner: Owner;
  /** As it was first called. */
  readonly name: string;
  readonly kind: EntityKind;
  /** The owner's own entity: "I", "the user". Each lane has at most one. */
  readonly self: boolean;
  /** Its other names, without its own, in the order they were said. Follows from the statements. */
  readonly aliases: readonly string[];
  /** The entity it is the same as, at the end of the chain; null while it stands for itself. Follows from the statements. */
  readonly mergedInto: string | null;
  /** false: no statement that counts is about it. Nobody is shown it. */
  readonly counts: boolean;
  /** Goes up with every change of what the index shows of it. */
  readonly revision: number;
  readonly createdAt: Millis;
}

/** What every statement has. */
interface Said {
  readonly id: string;
  readonly saidAt: SaidAt;
  readonly recordedAt: Millis;
  /** The consolidation whose study made it; null: somebody wrote it explicitly. */
  readonly consolidationId: string | null;
  /** Ledger ids of the messages it came from. */
  readonly messageIds: readonly string[];
  /** Memories that came from the same messages. */
  readonly memoryIds: readonly string[];
  /** The words of the message that say it. */
  readonly quote: string | null;
}

/** Ends of a relation, as they were named: entities may be merged later. */
export interface Ends {
  readonly source: string;
  /** General and timeless, lower case with underscores: works_at. */
  readonly relationship: string;
  readonly destination: string;
}

/** It holds, from a time on. */
export interface HoldsStatement extends Said, Ends {
  readonly kind: 'holds';
  /** The resolved date, else when it was said. */
  readonly validFrom: Millis;
  /** It is said of the past: it held until then. null: it holds when it is said. */
  readonly until: Millis | null;
  /** The source has at most one such destination at a time: what was said to hold before ends. */
  readonly single: boolean;
}

/** It holds no longer, from a time on. */
export interface EndedStatement extends Said, Ends {
  readonly kind: 'ended';
  readonly at: Millis;
  readonly reason: string;
}

/** It is not so, and never was: nothing said before shows it again. */
export interface DeniedStatement extends Said, Ends {
  readonly kind: 'denied';
}

/** `source` is another name of `destination`, which stays. */
export interface SameStatement extends Said {
  readonly kind: 'same';
  readonly source: string;
  readonly destination: string;
  readonly reason: string;
}

/** `source` stands for itself again, whatever was said before. */
export interface ApartStatement extends Said {
  readonly kind: 'apart';
  readonly source: string;
}

/** The entity is (also) called so: every mention of an entity is one. */
export interface NamedStatement extends Said {
  readonly kind: 'named';
  readonly source: string;
  readonly name: string;
}

export type Statement =
  | HoldsStatement
  | EndedStatement
  | DeniedStatement
  | SameStatement
  | ApartStatement
  | NamedStatement;

/** A time during which a relation held. */
export interface Relation {
  /** Of the statement that began it. */
  readonly id: string;
  /** Ids of entities that stand for themselves. */
  readonly source: string;
  readonly relationship: string;
  readonly destination: string;
  readonly validFrom: Millis;
  /** null while it holds. Never before validFrom. */
  readonly invalidAt: Millis | null;
  /** The statement that ended it. */
  readonly endedBy: string | null;
  readonly saidAt: SaidAt;
  /** How often it was said again. */
  readonly confirmations: number;
  /** Of all statements that say it, in the order they were said, each once. */
  readonly messageIds: readonly string[];
  readonly memoryIds: readonly string[];
  readonly quote: string | null;
}

/** A relation as the ledger keeps it, with the names of its ends: enough to show it. */
export interface KeptRelation extends Relation {
  readonly tenant: TenantId;
  readonly lane: LaneId;
  readonly owner: Owner;
  readonly sourceName: string;
  readonly destinationName: string;
  /** Goes up with every change, so that the index never goes back. */
  readonly revision: number;
  /** false: it follows from no statement any more (undone, denied). Only the index still has to hear of it. */
  readonly counts: boolean;
  readonly recordedAt: Millis;
  readonly updatedAt: Millis;
}

/** How a relation reads, for people, models and the index: "Ana works at Acme". */
export const relationText = ({
  sourceName,
  relationship,
  destinationName,
}: Pick<KeptRelation, 'sourceName' | 'relationship' | 'destinationName'>): string =>
  `${sourceName} ${relationship.replaceAll('_', ' ')} ${destinationName}`;

/** What a study of one consolidation decided, stored before anything changes. */
export interface GraphPlan {
  readonly consolidationId: string;
  /** Entities that this plan makes. */
  readonly entities: readonly NewEntity[];
  readonly statements: readonly Statement[];
  /** Entities that may be one (0.7 … 0.9 alike), for a person to look at. */
  readonly proposals: readonly MergeProposal[];
  /** What the model asked for that was refused or repaired, and why. */
  readonly remarks: readonly { readonly asked: string; readonly did: string }[];
  readonly prompts: readonly { readonly name: string; readonly version: string; readonly hash: string }[];
  readonly usage: JsonObject;
}

export type NewEntity = Pick<Entity, 'id' | 'name' | 'kind' | 'self'>;

export interface MergeProposal {
  readonly source: string;
  readonly destination: string;
  /** 0…1. */
  readonly likeness: number;
}
