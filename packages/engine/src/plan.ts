import type { Attack } from './messages/messages.ts';
import type { TokenUse } from './ports/models.ts';
import type { SleepAct } from './settings.ts';
import type { Certainty, EventKind, MemoryEvent, Millis, SaidAt, Trust, UtcOffset, VersionDetails } from './words.ts';

/** A candidate memory the model found in the messages. */
export interface Fact {
  /** f0, f1, … in the order they were said. */
  readonly id: string;
  readonly text: string;
  readonly sourceIds: readonly string[];
  readonly quote: string | null;
  readonly category: string | null;
  readonly language: string | null;
  readonly about: 'user' | 'agent';
  /** The least of the messages it came from. */
  readonly trust: Trust;
  readonly saidAt: SaidAt;
  /** The resolved date of what it says, else when it was said. */
  readonly validFrom: Millis;
  /** Of the speaker's local time; missing: UTC. */
  readonly utcOffset?: UtcOffset;
}

/** Something an answer brought of which nothing was made, and why. */
export interface Discard {
  readonly text: string;
  readonly reason: string;
}

/** A memory version recalled as a neighbour of some fact. */
export interface Candidate {
  /** What the model calls it: "0", "1", … */
  readonly shortId: string;
  readonly memoryId: string;
  readonly version: number;
  /** The memory's revision when it was read: an operation holds only for this one. */
  readonly revision: number;
  readonly text: string;
  readonly saidAt: SaidAt;
  /** Of the local time in which it was said; missing: UTC. */
  readonly utcOffset?: UtcOffset;
  readonly standing: 'live' | 'former' | 'deleted';
  readonly immutable: boolean;
  /** Which facts recalled it, with raw scores. */
  readonly recalledBy: readonly {
    readonly fact: string;
    readonly vector: number | null;
    readonly keyword: number | null;
  }[];
}

/** One operation of a plan, with what it changes and why. */
export interface Operation {
  readonly fact: string;
  readonly event: EventKind;
  readonly memoryId: string;
  /** The memory's revision it was decided on; 0 for a memory this plan makes. */
  readonly revision: number;
  readonly before: string | null;
  readonly after: string | null;
  readonly reason: string;
  readonly decidedBy: 'model' | 'rule' | 'guard';
}

/** Kinds of operations that a tenant may want a person to look at first. */
export type ReviewedKind = Exclude<EventKind, 'NONE'>;

/** An operation that waits for a person, with all that is needed to carry it out later as if it had been at once. */
export interface HeldOperation {
  readonly id: string;
  readonly kind: ReviewedKind;
  /** null: no fact asks for it, but a rating. */
  readonly fact: string | null;
  readonly factText: string | null;
  /** For ADD: the memory it will make, or join where an operation on the same new memory was approved before. */
  readonly memoryId: string;
  /** What would hold before it, once all that waits and was said earlier is approved too. */
  readonly before: string | null;
  readonly after: string | null;
  readonly reason: string;
  readonly decidedBy: Operation['decidedBy'] | 'feedback';
  /** The version that was rated so badly that it is proposed. Missing: it comes of a plan. */
  readonly rated?: number;
  readonly saidAt: SaidAt;
  readonly validFrom: Millis;
  /** null for DELETE. */
  readonly details: VersionDetails | null;
  readonly sourceIds: readonly string[];
  /** Of DELETE alone: a user asked to have it forgotten. */
  readonly forgets?: true;
  /** What many users of an agent have in common, in its lane. Missing: it is about what somebody said. */
  readonly topic?: string;
  /** Facts of the same plan that only repeat what it says: they confirm it once it is approved. Missing: none. */
  readonly repeats?: readonly HeldRepeat[];
}

/** A fact that only repeats what waits, and waits with it. */
interface HeldRepeat
  extends Pick<HeldOperation, 'after' | 'reason' | 'saidAt' | 'validFrom' | 'details' | 'sourceIds'> {
  readonly fact: string;
}

/** How a fact ended. Every fact has exactly one. */
export interface FactOutcome {
  readonly fact: string;
  readonly outcome: 'ADD' | 'UPDATE' | 'NONE' | 'DROPPED';
  readonly reason: string;
  /** It is a wish to have something forgotten: the words that say it are hidden. Missing where the deletion was refused. */
  readonly wish?: true;
  /** The memories that held and that a wish is about: its words are hidden while one of them is forgotten. Missing: none. */
  readonly about?: readonly string[];
}

/** Something the model asked for that was refused or repaired, and why. */
export interface Remark {
  readonly asked: string;
  readonly did: string;
}

/** A message that addresses the model instead of a person, and what it tries. */
export interface SeenAttack {
  readonly messageId: string;
  readonly kinds: readonly Attack[];
}

export interface PromptUse {
  readonly name: string;
  readonly version: string;
  readonly hash: string;
}

/** What one model was asked for a plan. */
export interface ModelUse extends TokenUse {
  readonly model: string;
  readonly calls: number;
  /** null: its price is not known. */
  readonly cost: number | null;
}

/** The configured models. Which of their fallbacks answered stands in the answers, and in what was used. */
export interface PlanModels {
  readonly chat: string;
  /** Where it is another one than `chat`. */
  readonly extract?: string;
  readonly decide?: string;
  readonly embedder: string;
}

/** The stored outcome of thinking: everything needed to apply it, to explain it, and to undo it. */
export interface Plan {
  readonly consolidationId: string;
  /** 1, or more when an explicit write overtook an earlier round. */
  readonly round: number;
  readonly facts: readonly Fact[];
  readonly discards: readonly Discard[];
  readonly candidates: readonly Candidate[];
  readonly operations: readonly Operation[];
  /** Operations the tenant's policy lets wait for a person; they become reviews when the plan is applied. */
  readonly held: readonly HeldOperation[];
  readonly outcomes: readonly FactOutcome[];
  readonly remarks: readonly Remark[];
  /** Missing: none. */
  readonly attacks?: readonly SeenAttack[];
  /** Ready to apply, in order; each names the revision it makes. */
  readonly events: readonly MemoryEvent[];
  readonly prompts: readonly PromptUse[];
  readonly models: PlanModels;
  readonly usage: TokenUse & { readonly calls: number; readonly models: readonly ModelUse[] };
  /** In the currency of the tenant's prices; null when a model that was asked has no price. */
  readonly cost: number | null;
  readonly timings: Readonly<Record<string, number>>;
  /** The canary whose changes it was made with. Missing: none. */
  readonly variant?: string;
  /** The rung of the tenant's economy that it was made on. Missing: nothing was saved. */
  readonly rung?: number;
  /** Whether the graph has a study of it to make, once it is applied. Missing: no. */
  readonly graph?: boolean;
  /** Of a night alone: what it does, and which of it is done by now. */
  readonly night?: NightPlan;
}

/** One thing that a night does, with the memories that it rests on. */
export interface Act {
  readonly act: SleepAct;
  readonly memoryId: string;
  /** null: it is new. */
  readonly before: string | null;
  /** null: it no longer holds. */
  readonly after: string | null;
  /** Of a conclusion alone. */
  readonly certainty?: Certainty;
  /** Of a place in the profile alone. */
  readonly slot?: string;
  /** Other memories. */
  readonly evidence: readonly { readonly memoryId: string; readonly text: string }[];
  readonly reason: string;
  readonly decidedBy: 'model' | 'rule';
  /** A person is asked; nothing is changed. */
  readonly asks: boolean;
}

export interface NightPlan {
  readonly acts: readonly Act[];
  /** What it has judged, by hash, whatever came of it. */
  readonly seen: readonly string[];
  /** When there is more to do without news; null: with news alone. */
  readonly nextAt: Millis | null;
  /** How many memories held when it was made. */
  readonly memories: number;
}
