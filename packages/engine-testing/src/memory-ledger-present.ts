import {
  type Conversation,
  compareSaid,
  type Memory,
  type MemoryVersion,
  type Millis,
  newest,
  type Owner,
  ownerOf,
  type PendingMessage,
  type PresentLimits,
  type PresentStore,
  type ProfileFact,
  type Scope,
  type TenantId,
} from '@slowwave/engine';
import { placementOf, profileRank } from '@slowwave/engine/storing';
import { isWithin, liveOf } from './memory-ledger-reads.ts';
import { rowOf, type State } from './memory-ledger-state.ts';
import { coveredBy } from './memory-ledger-summaries.ts';

export function memoryPresent(state: State): PresentStore {
  return {
    conversation: async (tenant, scope, limits) => conversation(state, { tenant, scope }, limits),
    profile: async (tenant, scope, how) => profile(liveOf(state, tenant, scope), how),
    told: async (tenant, owner, conversation) => {
      const lane = laneOf(state, tenant, owner)?.id;
      const row = state.tellings.find((one) => one.lane === lane && one.telling.conversation === conversation);
      return row?.telling.told ?? [];
    },
    tell: async (tenant, owner, telling) => {
      const lane = laneOf(state, tenant, owner)?.id;
      if (lane === undefined) return;
      const isSame = (row: (typeof state.tellings)[number]): boolean =>
        row.lane === lane && row.telling.conversation === telling.conversation;
      const others = state.tellings.filter((row) => !isSame(row));
      state.tellings.splice(0, state.tellings.length, ...others, { lane, telling });
    },
    forgetTold: async (before, limit) => {
      const old = new Set(state.tellings.filter(({ telling }) => telling.now < before).slice(0, limit));
      state.tellings.splice(0, state.tellings.length, ...state.tellings.filter((row) => !old.has(row)));
      return old.size;
    },
  };
}

const laneOf = (state: State, tenant: TenantId, owner: Owner) =>
  [...state.lanes.values()].find(
    (row) =>
      row.tenant === tenant && row.owner.kind === owner.kind && row.owner.id === owner.id && row.erasure === null,
  );

interface Asked {
  readonly tenant: TenantId;
  readonly scope: Scope;
}

function conversation(state: State, { tenant, scope }: Asked, limits: PresentLimits): Conversation {
  const lane = laneOf(state, tenant, ownerOf(scope));
  if (lane === undefined) return { summary: null, covers: null, pending: [], more: false };
  const summaries = state.summaries.filter(
    (row) => row.lane === lane.id && row.summary !== null && isWithin(row.scope, scope),
  );
  const [latest] = summaries.sort((a, b) => b.upTo - a.upTo);
  const waiting = state.messages
    .ofLane(lane.id)
    .filter((row) => isWithin(row.scope, scope) && !row.message.resent && isOpen(state, row.message));
  const isBackfill = (row: (typeof waiting)[number]): number =>
    Number(rowOf(state.batches, row.message.batchId).priority === 'backfill');
  const newestFirst = waiting.sort(
    (a, b) => isBackfill(a) - isBackfill(b) || b.message.saidAt.seq - a.message.saidAt.seq,
  );
  const shown = newestFirst.slice(0, limits.messages).map(({ message }) => message);
  return {
    summary: latest?.summary ?? null,
    covers: latest === undefined ? null : coveredBy(state, latest),
    pending: shown.sort((a, b) => compareSaid(a.saidAt, b.saidAt)).map((message) => pendingOf(message, limits.longest)),
    more: waiting.length > limits.messages,
  };
}

function isOpen(state: State, { batchId }: { batchId: string }): boolean {
  const { state: batchState } = rowOf(state.batches, batchId);
  return batchState === 'pending' || batchState === 'consolidating';
}

function pendingOf({ resent, ...message }: PendingMessage & { resent: boolean }, longest: number): PendingMessage {
  const isTooLong = JSON.stringify(message.content).length > longest;
  return { ...message, content: isTooLong ? null : message.content };
}

function profile(memories: readonly Memory[], { at, limit }: { at: Millis; limit: number }): readonly ProfileFact[] {
  return memories
    .map((memory) => ({ memory, rank: profileRank(memory), version: shownAt(memory, at) }))
    .filter(({ memory, rank, version }) => {
      const { expiresAt } = newest(memory).details;
      return rank > 0 && version.validFrom <= at && (expiresAt === null || expiresAt > at);
    })
    .sort((a, b) => b.rank - a.rank || a.memory.createdAt - b.memory.createdAt || (a.memory.id < b.memory.id ? -1 : 1))
    .slice(0, limit)
    .map(({ memory, version }) => ({
      memoryId: memory.id,
      version: version.number,
      text: version.text,
      saidAt: version.saidAt,
      validFrom: version.validFrom,
      ...(version.details.utcOffset !== undefined && { utcOffset: version.details.utcOffset }),
      category: version.details.category,
      placed: placementOf(memory),
    }));
}

/** The newest version, or the one before while that has yet to begin. */
function shownAt(memory: Memory, at: Millis): MemoryVersion {
  const last = newest(memory);
  if (last.validFrom <= at || last.validFrom <= last.saidAt.at) return last;
  const held = memory.versions.find(
    ({ validFrom, invalidAt }) => validFrom <= at && invalidAt !== null && at < invalidAt,
  );
  return held ?? last;
}
