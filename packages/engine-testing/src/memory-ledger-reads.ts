import {
  besideOwner,
  forgottenAt,
  idListsOf,
  isMerged,
  isUnder,
  type LaneId,
  liveVersion,
  type Memory,
  type MemoryStore,
  type Message,
  type Millis,
  ownerOf,
  type Scope,
  type TenantId,
  type Tombstone,
} from '@slowwave/engine';
import { leaningOn } from './memory-ledger-forgetting.ts';
import { pageOf } from './memory-ledger-page.ts';
import { rowOf, type State } from './memory-ledger-state.ts';
import { isStanding } from './memory-ledger-turns.ts';

type Reads = Omit<MemoryStore, 'apply' | 'write' | 'laneOf'>;

export function memoryReads(state: State): Reads {
  return {
    get: async (tenant, id) => find(state, tenant, id),
    many: async (tenant, ids) => [...new Set(ids)].flatMap((id) => find(state, tenant, id) ?? []),
    unindexed: async (lane, { forgottenSince, textHashes }) => ({
      memories: unindexed(state, lane, forgottenSince),
      tombstones: tombstonesOf(state, lane, textHashes),
    }),
    tombstones: async (lane, textHashes) => tombstonesOf(state, lane, textHashes),
    list: async (...[tenant, scope, now, page]) => {
      const memories = liveOf(state, tenant, scope).filter((memory) => !isExpired(memory, now));
      return pageOf(memories, (memory) => ({ order: memory.createdAt, id: memory.id }), page);
    },
    around: async (tenant, { scope, at }, page) => {
      const memories = ofOwner(state, tenant, scope).filter((memory) => maySay(memory, at));
      return pageOf(memories, (memory) => ({ order: memory.createdAt, id: memory.id }), page);
    },
    liveIds: async (tenant, scope) => liveOf(state, tenant, scope).map((memory) => memory.id),
    every: async (after, limit) => {
      const standing = [...state.memories.values()].filter(({ lane }) => state.lanes.get(lane)?.erasure === null);
      const rest = standing.filter((memory) => after === null || memory.id > after);
      return rest.sort((a, b) => (a.id < b.id ? -1 : 1)).slice(0, limit);
    },
    leaning: async (lane, id) => leaningOn(state, lane, id),
    history: async (tenant, id, page) => {
      const isKnown = find(state, tenant, id) !== null;
      const events = isKnown ? state.events.filter((event) => event.memoryId === id) : [];
      return pageOf(events, (event) => ({ order: -event.revision, id: event.id }), page);
    },
    storedVersions: async (tenant, id) =>
      [...(find(state, tenant, id)?.versions ?? [])].sort((a, b) => a.number - b.number),
    event: async (tenant, id) =>
      state.events.find((event) => event.id === id && find(state, tenant, event.memoryId) !== null) ?? null,
    sources: async (tenant, id, around) => sources(state, find(state, tenant, id), around),
    messages: async (tenant, ids) => new Map(messagesOf(state, tenant, ids).map((message) => [message.id, message])),
    speakers: async (tenant, ids) =>
      new Map(messagesOf(state, tenant, ids).map(({ id, role, name }) => [id, { role, name }])),
  };
}

const messagesOf = (state: State, tenant: TenantId, ids: readonly string[]): readonly Message[] =>
  ids.flatMap((id) => {
    const row = state.messages.get(id);
    return row?.tenant === tenant && isStanding(state, row.lane) ? [row.message] : [];
  });

function find(state: State, tenant: TenantId, id: string): Memory | null {
  const memory = state.memories.get(id);
  return memory?.tenant === tenant && isStanding(state, memory.lane) ? memory : null;
}

function unindexed(state: State, lane: LaneId, since: Millis): Memory[] {
  const ids = new Set([...state.outbox.values()].filter((entry) => entry.lane === lane).map((entry) => entry.memoryId));
  const isForgotten = (memory: Memory): boolean => (forgottenAt(memory)?.at ?? Number.NEGATIVE_INFINITY) >= since;
  return [...state.memories.values()].filter(
    (memory) => ids.has(memory.id) || (memory.lane === lane && isForgotten(memory)),
  );
}

const tombstonesOf = ({ tombstones }: State, lane: LaneId, textHashes: readonly string[]): readonly Tombstone[] =>
  tombstones.flatMap((row) =>
    row.lane === lane && textHashes.includes(row.tombstone.textHash) ? [row.tombstone] : [],
  );

/** Live memories of the scope's owner; the other ids of the scope only filter. */
export const liveOf = (state: State, tenant: TenantId, scope: Scope): Memory[] =>
  ofOwner(state, tenant, scope).filter((memory) => liveVersion(memory) !== null);

function ofOwner(state: State, tenant: TenantId, scope: Scope): Memory[] {
  const owner = ownerOf(scope);
  return [...state.memories.values()].filter(
    (memory) =>
      memory.tenant === tenant &&
      state.lanes.get(memory.lane)?.erasure === null &&
      memory.owner.kind === owner.kind &&
      memory.owner.id === owner.id &&
      isUnder(idListsOf(memory), besideOwner(scope)),
  );
}

const maySay = (memory: Memory, at: Millis): boolean =>
  forgottenAt(memory) === null &&
  !isMerged(memory) &&
  memory.versions.some(
    ({ validFrom, saidAt, invalidAt }) =>
      Math.min(validFrom, saidAt.at) <= at && (invalidAt === null || invalidAt > at),
  );

export const isWithin = (scope: Scope, asked: Scope): boolean =>
  (asked.userId === null || asked.userId === scope.userId) &&
  (asked.agentId === null || asked.agentId === scope.agentId) &&
  (asked.runId === null || asked.runId === scope.runId) &&
  (asked.appId === null || asked.appId === scope.appId);

export function isExpired(memory: Memory, now: Millis): boolean {
  const expiresAt = liveVersion(memory)?.details.expiresAt ?? null;
  return expiresAt !== null && expiresAt <= now;
}

/** In the order of arrival, each message once. */
function sources(
  state: State,
  memory: Memory | null,
  around: { before: number; after: number },
): { message: Message; isSource: boolean }[] {
  if (memory === null) return [];
  const sourceIds = new Set(memory.versions.flatMap((version) => version.details.sourceIds));
  const lane = state.messages.ofLane(memory.lane).map((row) => row.message);
  const seqs = lane.filter((message) => sourceIds.has(message.id)).map((message) => message.saidAt.seq);
  const isNear = (seq: number) => seqs.some((source) => seq >= source - around.before && seq <= source + around.after);
  return (
    lane
      .filter((message) => isNear(message.saidAt.seq))
      // What is undone is nobody's neighbour.
      .filter(({ id, batchId }) => sourceIds.has(id) || rowOf(state.batches, batchId).state !== 'undone')
      .sort((a, b) => a.saidAt.seq - b.saidAt.seq)
      .map((message) => ({ message, isSource: sourceIds.has(message.id) }))
  );
}
