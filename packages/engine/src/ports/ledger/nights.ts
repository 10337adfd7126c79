import type { Act, HeldOperation, Plan } from '../../plan.ts';
import type { Failure, LaneId, Millis, Owner, Scope, TenantId } from '../../words.ts';
import type { Fenced } from './lanes.ts';
import type { Page, Paged } from './ledger.ts';
import type { MemoryChange, Tombstone } from './memories.ts';
import type { Held, HeldStore, Stored } from './thoughts.ts';

/**
 * A night's life: thinking from its claim on, until it ends once and for ever as
 *   applied    its plan was carried out; it is undone and redone like any consolidation
 *   waiting    its plan waits for a person, who ends it as applied or
 *   discarded  not wanted
 *   stale      approved too late: something else changed its memories
 *   failed     its tries are used up
 * One that finds nothing to do, refused nothing and asked no model leaves nothing but that its owner was looked at.
 */
export type NightState = 'thinking' | 'waiting' | 'applied' | 'discarded' | 'stale' | 'failed';

/** Why a plan waits: the tenant previews nights, or it would change too many of the owner's memories. */
export type NightWaits = 'preview' | 'share';

/** One claimed night. Its scope is of the owner alone. */
export interface Night extends Held {
  readonly claimedAt: Millis;
  /** What earlier nights have judged, by hash: that is not judged again. */
  readonly seen: readonly string[];
  /** Where it was stored before a crash. */
  readonly plan: Plan | null;
}

export type NightClaim =
  | { readonly kind: 'claimed'; readonly night: Night }
  /** Somebody else works on it; or it waits after a failure. */
  | { readonly kind: 'later'; readonly at: Millis }
  /** There is no such owner, messages of theirs wait to be consolidated, or a plan waits for a person. */
  | { readonly kind: 'none' };

/** What becomes of a night. */
export interface NightEnd {
  readonly seen: readonly string[];
  /** When the owner is looked at again without news; null: with news alone. */
  readonly nextAt: Millis | null;
  readonly now: Millis;
  readonly outcome: /** With how much it would have done and refused: its plan says why. */
    | { readonly kind: 'rests'; readonly refused: number }
    | { readonly kind: 'waits'; readonly why: NightWaits; readonly memories: number; readonly acts: readonly Act[] }
    | ({ readonly kind: 'applies' } & NightChanges);
}

export interface NightChanges {
  readonly changes: readonly MemoryChange[];
  readonly tombstones: readonly Tombstone[];
  readonly reviews: readonly HeldOperation[];
  readonly acts: readonly Act[];
}

export type NightEnded =
  | { readonly kind: 'ended' }
  /** A memory is not at the expected revision: nothing was changed. */
  | { readonly kind: 'conflict' }
  | Fenced;

/** A person's word on a plan that waits. */
export type NightDecision =
  | ({ readonly state: 'applied'; readonly now: Millis } & NightChanges)
  | { readonly state: 'discarded' | 'stale'; readonly now: Millis };

/** A night as it is shown. */
export interface NightRecord {
  /** Of its consolidation. */
  readonly id: string;
  readonly tenant: TenantId;
  readonly lane: LaneId;
  readonly owner: Owner;
  readonly scope: Scope;
  readonly state: NightState;
  /** Applied, and taken back since. */
  readonly undone: boolean;
  readonly why: NightWaits | null;
  /** What it did, or would do, and to how many memories. */
  readonly operations: number;
  readonly memories: number;
  readonly failure: Failure | null;
  readonly createdAt: Millis;
  readonly endedAt: Millis | null;
}

export interface NightStore extends HeldStore<Night> {
  /** Lanes of a tenant with news since their last night, quiet since a moment, that no night waits in; longest quiet first. */
  due(tenant: TenantId, how: { quietSince: Millis; now: Millis; limit: number }): Promise<readonly LaneId[]>;
  /** Begins a night under `id`, or goes on with the one that was begun. Held for `holdMs` against others; a later claim fences it. */
  claim(lane: LaneId, how: { id: string; now: Millis; holdMs: number }): Promise<NightClaim>;
  /** Before anything changes. */
  storePlan(night: Night, plan: Plan): Promise<Stored>;
  /** All that follows from it in one transaction, and the lane is given free. */
  end(night: Night, end: NightEnd): Promise<NightEnded>;
  /** Ends one that waits, and changes memories with it where it is applied: both or nothing. */
  decide(
    tenant: TenantId,
    id: string,
    decision: NightDecision,
  ): Promise<{ readonly kind: 'ended' | 'conflict' | 'over' }>;
  get(tenant: TenantId, id: string): Promise<NightRecord | null>;
  list(tenant: TenantId, filter: { state?: NightState; userId?: string }, page: Page): Promise<Paged<NightRecord>>;
  /** Tokens that nights of a tenant have used since a moment. */
  spent(tenant: TenantId, since: Millis): Promise<number>;
  /** Tokens of the owner since a moment, without embeddings: of consolidations, and of nights other than this one. */
  used(night: Night, since: Millis): Promise<{ readonly consolidations: number; readonly nights: number }>;
}

/** A category that memories of a user are in that stand under an agent. */
export interface Topic {
  readonly agentId: string;
  readonly topic: string;
}

/** How many owners have a topic, and how many the agent has in all. */
interface TopicCount {
  readonly topic: string;
  readonly owners: number;
  readonly ownersInAll: number;
}

/** Of fewer users nothing is proposed, and what was proposed is withdrawn. */
export const TOPIC_OWNERS = 20;

/** What users of an agent have in common: categories by the hash of the owner, and no word of anybody. */
export interface TopicStore {
  /** All that is counted of one owner; nothing of who is being erased. Proposals that fewer than 20 owners are left for are withdrawn. */
  put(
    owner: { readonly tenant: TenantId; readonly lane: LaneId; readonly ownerHash: string },
    topics: readonly Topic[],
    now: Millis,
  ): Promise<void>;
  of(tenant: TenantId, agentId: string): Promise<readonly TopicCount[]>;
  /** Opens a review in the lane of the agent. false: one waits or was decided, or fewer than 20 owners are left. */
  propose(
    agent: { readonly tenant: TenantId; readonly lane: LaneId; readonly scope: Scope },
    operation: HeldOperation,
    now: Millis,
  ): Promise<boolean>;
}
