import type { GatheredTurn } from '../../consolidation/values.ts';
import type { EngineDeps } from '../../deps.ts';
import type { Spoken } from '../../messages/messages.ts';
import type { Plan, Remark } from '../../plan.ts';
import type { Study } from '../../ports/ledger/graph.ts';
import type { Millis, SaidAt } from '../../words.ts';
import type { Entity, EntityKind, KeptRelation } from '../words.ts';

/** The value each step of a study hands to the next. Every step adds to what it was given and calls no earlier one. */

export interface Read {
  readonly study: Study;
  /** The consolidation as a turn, for what both ask models. */
  readonly gathered: GatheredTurn;
  /** The messages with something in them. */
  readonly spoken: readonly Spoken[];
  /** The plan of the consolidation; null where retention has removed it. */
  readonly plan: Plan | null;
  /** The owner's own entity; null: there is none yet. */
  readonly self: Entity | null;
  /** Entities of the lane that stand for themselves: as many as are looked through. */
  readonly entities: readonly Entity[];
  /** What holds around those that the messages name, and around the owner. */
  readonly around: readonly KeptRelation[];
}

/** An entity that a message names, as the model named it and the guard let it through. */
export interface Mention {
  readonly name: string;
  /** Other names that messages give it. */
  readonly aliases: readonly string[];
  readonly kind: EntityKind;
  readonly self: boolean;
  /** The known entity the model takes it for. */
  readonly known: Entity | null;
}

/** A relation that a message states. Its ends are places in the list of mentions. */
export interface Claim {
  readonly said: 'holds' | 'ended' | 'denied';
  readonly source: number;
  readonly relationship: string;
  readonly destination: number;
  readonly validFrom: Millis;
  readonly until: Millis | null;
  readonly single: boolean;
  readonly saidAt: SaidAt;
  readonly messageIds: readonly string[];
  readonly quote: string | null;
}

export interface Admitted extends Read {
  readonly mentions: readonly Mention[];
  readonly claims: readonly Claim[];
  readonly remarks: readonly Remark[];
  readonly asked: boolean;
}

/** Which entity a mention is of. */
export interface Place {
  readonly id: string;
  /** Of an entity that this study makes: as it will be made. */
  readonly isNew: boolean;
}

/** Two entities that may be one. */
export interface Pair {
  /** The mention it came of. */
  readonly mention: number;
  readonly other: Entity;
  readonly likeness: number;
}

export interface Linked extends Admitted {
  /** One for each mention. */
  readonly places: readonly Place[];
  readonly pairs: readonly Pair[];
}

/** What the names of a study's answers begin with, among those of its consolidation. */
export const STEP = 'graph:';

/** Whether a study is parked if this try of it fails as well. */
export const isLastOfStudy = ({ settings }: Pick<EngineDeps, 'settings'>, { attempts }: Study): boolean =>
  attempts + 1 >= settings.maxAttempts;
