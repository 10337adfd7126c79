import type { HeldOperation } from '../../plan.ts';
import type { LaneId, Millis, Scope, TenantId } from '../../words.ts';

/** A category that memories of a user are in that stand under an agent. */
export interface Topic {
  readonly agentId: string;
  readonly topic: string;
}

/** How many owners have a topic, and how many the agent has in all. */
export interface TopicCount {
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
