import { REMOVED, type RemovalSlice, type RetentionStore } from '../ports/ledger/retention.ts';
import type { LaneId, Millis, TenantId } from '../words.ts';
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
    removeMessages: async (tenant, before, { limit }: RemovalSlice) => {
      const picked = batches(tenant, before).slice(0, limit);
      for (const batch of picked) {
        state.stripped.add(batch.id);
        change(batch, { metadata: {} });
        for (const row of state.messages.values()) {
          if (row.message.batchId === batch.id) change(row.message, { content: REMOVED, name: null });
        }
      }
      return picked.length;
    },
    countPlans: async (tenant, before) => consolidations(tenant, before).length,
    removePlans: async (tenant, before, { limit, now }) => {
      const picked = consolidations(tenant, before).slice(0, limit);
      for (const row of picked) {
        change(row, { removedAt: now });
        for (const table of [state.answers, state.plans, state.pinnedSummaries]) table.delete(row.id);
      }
      return picked.length;
    },
  };
}
