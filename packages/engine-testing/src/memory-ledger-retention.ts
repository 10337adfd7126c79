import {
  type HistoryPlace,
  type HistoryRemoval,
  historyFrom,
  type LaneId,
  type Millis,
  NOT_KEPT,
  type RemovalSlice,
  type RetentionStore,
  readsOtherwise,
  type TenantId,
} from '@slowwave/engine';
import { loseQuotes } from './memory-ledger-forgetting.ts';
import { conflictsOf, record } from './memory-ledger-memories.ts';
import { projectSpeechAgain } from './memory-ledger-speech.ts';
import { change, type State } from './memory-ledger-state.ts';

const ENDED_BATCHES = ['consolidated', 'empty', 'undone'];
const ENDED_CONSOLIDATIONS = ['applied', 'split', 'undone'];

export function memoryRetention(state: State): RetentionStore {
  const batches = (tenant: TenantId, before: Millis) =>
    [...state.batches.values()].filter(
      (batch) =>
        batch.tenant === tenant &&
        batch.acceptedAt < before &&
        ENDED_BATCHES.includes(batch.state) &&
        !state.stripped.has(batch.id),
    );
  const consolidations = (tenant: TenantId, before: Millis) =>
    [...state.consolidations.values()].filter(
      (row) =>
        row.tenant === tenant &&
        row.createdAt < before &&
        ENDED_CONSOLIDATIONS.includes(row.state) &&
        row.removedAt === undefined,
    );
  return {
    tenants: async () => [...state.settings.keys()].sort(),
    lanes: async (tenant, after, limit) => {
      const standing = [...state.lanes.values()].filter((lane) => lane.tenant === tenant && lane.erasure === null);
      const ids = standing.map(({ id }) => id).filter((id: LaneId) => after === null || id > after);
      return ids.sort().slice(0, limit);
    },
    countMessages: async (tenant, before) => batches(tenant, before).length,
    removeMessages: async (tenant, before, { limit, now }: RemovalSlice) => {
      const picked = batches(tenant, before).slice(0, limit);
      for (const batch of picked) {
        state.stripped.add(batch.id);
        change(batch, { metadata: {} });
        for (const row of state.messages.values()) {
          if (row.message.batchId !== batch.id) continue;
          change(row.message, { content: NOT_KEPT, name: null });
          row.unhidden = undefined;
        }
      }
      const ids = new Set(picked.map(({ id }) => id));
      const messages = [...state.messages.values()].filter(({ message }) => ids.has(message.batchId));
      loseQuotes(state, new Set(messages.map(({ message }) => message.id)));
      for (const wish of state.wishes) {
        if (ids.has(state.messages.get(wish.messageId)?.message.batchId ?? '')) change(wish, { quote: null });
      }
      projectSpeechAgain(state, ids, now);
      return picked.length;
    },
    countPlans: async (tenant, before) => consolidations(tenant, before).length,
    removePlans: async (tenant, before, { limit, now }) => {
      const picked = consolidations(tenant, before).slice(0, limit);
      for (const row of picked) {
        change(row, { removedAt: now });
        for (const table of [state.answers, state.plans, state.pinnedSummaries]) table.delete(row.id);
        const study = state.graph.studies.get(row.id);
        if (study !== undefined) study.plan = null;
      }
      return picked.length;
    },
    histories: async (tenant, before, { after, limit }) => {
      const places = [...state.memories.values()].flatMap((memory): HistoryPlace[] => {
        const from = memory.tenant === tenant ? historyFrom(memory) : null;
        return from === null || from >= before ? [] : [{ memoryId: memory.id, from }];
      });
      return places
        .sort(byPlace)
        .filter((place) => after === null || byPlace(after, place) < 0)
        .slice(0, limit);
    },
    removeHistories: async (tenant, removals) =>
      removals.filter((removal) => removeHistory(state, tenant, removal)).length,
    withoutMessages: async (tenant, batchIds) =>
      batchIds.filter((id) => state.batches.get(id)?.tenant === tenant && state.stripped.has(id)),
  };
}

const byPlace = (a: HistoryPlace, b: HistoryPlace): number =>
  a.from - b.from || (a.memoryId < b.memoryId ? -1 : Number(a.memoryId > b.memoryId));

function removeHistory(state: State, tenant: TenantId, removal: HistoryRemoval): boolean {
  const { memory, events, textHashes } = removal;
  const change = { memory, expectedRevision: memory.revision, events: [] };
  if (conflictsOf(state, tenant, [change]).length > 0) return false;
  if (readsOtherwise(removal)) record(state, [change], null);
  const read = new Map(events.map((event) => [event.id, event]));
  for (const [i, event] of state.events.entries()) state.events[i] = read.get(event.id) ?? event;
  for (const key of state.vectors.keys()) {
    const [lane, , hash] = JSON.parse(key);
    if (lane === memory.lane && textHashes.includes(hash)) state.vectors.delete(key);
  }
  return true;
}
