import {
  goneSince,
  type HistoryPlace,
  type HistoryRemoval,
  historyFrom,
  type LaneId,
  type Memory,
  type Millis,
  NOT_KEPT,
  type RemovalSlice,
  type RetentionStore,
  readsOtherwise,
  type TenantId,
} from '@slowwave/engine';
import { eraseWith } from './memory-ledger-erase-forgotten.ts';
import { loseQuotes } from './memory-ledger-forgetting.ts';
import { conflictsOf, record } from './memory-ledger-memories.ts';
import { projectSpeechAgain } from './memory-ledger-speech.ts';
import { change, rowOf, type State } from './memory-ledger-state.ts';

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
    tenants: async () => {
      const gone = [...state.memories.values()].filter((memory) => goneFrom(state, memory) !== null);
      const wished = state.wishes.filter(({ memoryId }) => memoryId === null).map(({ lane }) => state.lanes.get(lane));
      const theirs = [...gone, ...wished].flatMap((one) => one?.tenant ?? []);
      return [...new Set([...state.settings.keys(), ...theirs])].sort();
    },
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
    forgotten: async (tenant, before, { after, limit }) => {
      const places = [...state.memories.values()].flatMap((memory): HistoryPlace[] => {
        const from = memory.tenant === tenant ? goneFrom(state, memory) : null;
        return from === null || from >= before ? [] : [{ memoryId: memory.id, from }];
      });
      return places
        .sort(byPlace)
        .filter((place) => after === null || byPlace(after, place) < 0)
        .slice(0, limit);
    },
    eraseForgotten: async (tenant, removals, now) => {
      const standing = removals.filter((removal) => isStanding(state, tenant, removal));
      for (const [lane, of] of Map.groupBy(standing, ({ memory }) => memory.lane)) {
        eraseWith(state, { lane, removals: of, wishedIn: new Set() }, now);
      }
      if (standing.length > 0) state.uncompacted += 1;
      return standing.length;
    },
    eraseWishes: async (tenant, before, { limit, now }) => {
      const isDue = ({ lane, consolidationId, memoryId }: State['wishes'][number]): boolean => {
        const { state: at, appliedAt } = rowOf(state.consolidations, consolidationId);
        const wished = state.lanes.get(lane);
        const isFree = wished?.tenant === tenant && wished.erasure === null && wished.state !== 'consolidating';
        return memoryId === null && isFree && at === 'applied' && (appliedAt ?? now) < before;
      };
      const due = state.wishes.filter(isDue).map(({ messageId, lane }) => [messageId, lane] as const);
      const picked = [...new Map(due)].slice(0, limit);
      for (const [lane, of] of Map.groupBy(picked, ([, lane]) => lane))
        eraseWith(state, { lane, removals: [], wishedIn: new Set(of.map(([id]) => id)) }, now);
      if (picked.length > 0) state.uncompacted += 1;
      return picked.length;
    },
    uncompacted: async () => (state.uncompacted === 0 ? null : `${state.uncompacted}`),
    compacted: async (removal) => {
      if (`${state.uncompacted}` === removal) state.uncompacted = 0;
    },
    withoutMessages: async (tenant, batchIds) =>
      batchIds.filter((id) => state.batches.get(id)?.tenant === tenant && state.stripped.has(id)),
  };
}

/** Since when nobody finds anything of it; null: something is found, or it is erased. */
const goneFrom = (state: State, memory: Memory): Millis | null =>
  state.erasedAt.get(memory.id) === memory.revision ? null : goneSince(memory);

/** Not overtaken, and nobody works on its lane or has to tell the index of it. */
function isStanding(state: State, tenant: TenantId, { memory }: HistoryRemoval): boolean {
  const { lane } = memory;
  const change = { memory, expectedRevision: memory.revision, events: [] };
  if (conflictsOf(state, tenant, [change]).length > 0 || state.lanes.get(lane)?.state === 'consolidating') return false;
  const unprojected = [...state.outbox.values(), ...state.graph.entities.values(), ...state.graph.relations.values()];
  if (unprojected.some((row) => row.lane === lane && !('unprojectedAt' in row && row.unprojectedAt === null)))
    return false;
  return !state.batches.ofLane(lane).some((row) => row.projectedRevision < row.speechRevision);
}

const byPlace = (a: HistoryPlace, b: HistoryPlace): number =>
  a.from - b.from || (a.memoryId < b.memoryId ? -1 : Number(a.memoryId > b.memoryId));

function removeHistory(state: State, tenant: TenantId, removal: HistoryRemoval): boolean {
  const { memory, events, textHashes } = removal;
  const change = { memory, expectedRevision: memory.revision, events: [] };
  if (conflictsOf(state, tenant, [change]).length > 0) return false;
  if (readsOtherwise(removal)) record(state, [change], { consolidationId: null, now: memory.updatedAt });
  const read = new Map(events.map((event) => [event.id, event]));
  for (const [i, event] of state.events.entries()) state.events[i] = read.get(event.id) ?? event;
  for (const key of state.vectors.keys()) {
    const [lane, , hash] = JSON.parse(key);
    if (lane === memory.lane && textHashes.includes(hash)) state.vectors.delete(key);
  }
  return true;
}
