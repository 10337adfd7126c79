import { type LaneId, type Millis, type TenantId, TOPIC_OWNERS, type TopicStore } from '@slowwave/engine';
import { change, type State } from './memory-ledger-state.ts';

/** Of an owner, by hash. */
export interface TopicRow {
  readonly tenant: TenantId;
  readonly agentId: string;
  readonly topic: string;
  readonly ownerHash: string;
}

export function memoryTopics(state: State): TopicStore {
  return {
    put: async ({ tenant, lane, ownerHash }, topics, now) => {
      if (!isStandingLane(state, lane)) return;
      keep(state, (row) => row.tenant !== tenant || row.ownerHash !== ownerHash);
      state.topics.push(...topics.map((one) => ({ ...one, tenant, ownerHash })));
      withdraw(state, now);
    },
    of: async (tenant, agentId) => {
      const rows = state.topics.filter((row) => row.tenant === tenant && row.agentId === agentId);
      const ownersInAll = new Set(rows.map(({ ownerHash }) => ownerHash)).size;
      return [...Map.groupBy(rows, ({ topic }) => topic)]
        .map(([topic, { length }]) => ({ topic, owners: length, ownersInAll }))
        .sort((a, b) => (a.topic < b.topic ? -1 : 1));
    },
    propose: async ({ tenant, lane, scope }, operation, now) => {
      const { topic } = operation;
      if (!isStandingLane(state, lane) || topic === undefined) return false;
      const isDecided = [...state.reviews.values()].some(
        (review) => review.lane === lane && review.operation.topic === topic && review.state !== 'stale',
      );
      if (isDecided || ownersOf(state, { tenant, agentId: scope.agentId ?? '', topic }) < TOPIC_OWNERS) return false;
      const { owner } = state.lanes.get(lane) ?? {};
      if (owner === undefined) return false;
      const of = { id: operation.id, tenant, lane, owner, scope, consolidationId: null, operation };
      state.reviews.set(operation.id, { ...of, state: 'pending', note: null, createdAt: now, settledAt: null });
      return true;
    },
  };
}

/** What was counted of an owner goes, and of an agent all that was counted of its users. */
export function forgetTopics(
  state: State,
  { tenant, ownerHash, agentId }: Omit<TopicRow, 'topic' | 'agentId'> & { readonly agentId: string | null },
  now: Millis,
): void {
  keep(state, (row) => row.tenant !== tenant || (row.ownerHash !== ownerHash && row.agentId !== agentId));
  withdraw(state, now);
}

const isStandingLane = (state: State, lane: LaneId): boolean => state.lanes.get(lane)?.erasure === null;

function keep(state: State, stays: (row: TopicRow) => boolean): void {
  state.topics.splice(0, state.topics.length, ...state.topics.filter(stays));
}

const ownersOf = (state: State, { tenant, agentId, topic }: Omit<TopicRow, 'ownerHash'>): number =>
  state.topics.filter((row) => row.tenant === tenant && row.agentId === agentId && row.topic === topic).length;

function withdraw(state: State, now: Millis): void {
  for (const review of state.reviews.values()) {
    const { tenant, owner, operation } = review;
    if (review.state !== 'pending' || operation.topic === undefined) continue;
    if (ownersOf(state, { tenant, agentId: owner.id, topic: operation.topic }) >= TOPIC_OWNERS) continue;
    const note = `fewer than ${TOPIC_OWNERS} users are left to whom this applies`;
    change(review, { state: 'stale', note, settledAt: now });
  }
}
