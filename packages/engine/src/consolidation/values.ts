import type { RawOperation } from '../models/parse/listed.ts';
import type {
  Candidate,
  Discard,
  Fact,
  FactOutcome,
  HeldOperation,
  Operation,
  Plan,
  PromptUse,
  Remark,
  SeenAttack,
} from '../plan.ts';
import type { Turn } from '../ports/ledger/lanes.ts';
import type { Tombstone } from '../ports/ledger/memories.ts';
import type { Gathered } from '../ports/ledger/thoughts.ts';
import type { Memory, MemoryEvent } from '../words.ts';
import type { Repeat } from './recall.ts';

/** The value each step hands to the next. Every step adds to what it was given and calls no earlier one. */

export interface GatheredTurn extends Gathered {
  readonly turn: Turn;
  /** Of the facts, and of what the messages say where that is embedded with them: for the index. */
  readonly vectors?: ReadonlyMap<string, Float32Array> | undefined;
}

export interface Extracted extends GatheredTurn {
  readonly facts: readonly Fact[];
  readonly discards: readonly Discard[];
  readonly remarks: readonly Remark[];
  readonly prompts: readonly PromptUse[];
}

export interface Recalled extends Extracted {
  readonly candidates: readonly Candidate[];
  /** The memories behind the candidates, as the ledger has them, by id; for a batch kept to one app, as it knows them. */
  readonly memories: ReadonlyMap<string, Memory>;
  /** Those of them that other apps were told, too, for such a batch. */
  readonly shared: ReadonlySet<string>;
  /** Facts that only repeat a memory or an earlier fact, word for word: decided without a model. */
  readonly repeats: ReadonlyMap<string, Repeat>;
  /** Later deletions of exactly these texts, by fact. */
  readonly tombstones: ReadonlyMap<string, Tombstone>;
  /** Some fact is near a memory or another fact: there is something to decide. */
  readonly undecided: boolean;
}

export interface Decided extends Recalled {
  /** null: no model was asked. */
  readonly asked: readonly RawOperation[] | null;
}

export interface Guarded extends Decided {
  readonly operations: readonly Operation[];
  readonly held: readonly HeldOperation[];
  readonly outcomes: readonly FactOutcome[];
  readonly attacks: readonly SeenAttack[];
  readonly events: readonly MemoryEvent[];
}

export interface Planned extends GatheredTurn {
  readonly plan: Plan;
}
