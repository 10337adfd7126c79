import type { ContentStore } from '@slowwave/engine';
import type { State } from './memory-ledger-state.ts';
import { coveredBy } from './memory-ledger-summaries.ts';

export function memoryContents(state: State): ContentStore {
  return {
    messages: async (lane, after, limit) => {
      const all = state.messages.ofLane(lane).map((row) => row.message);
      const rest = all.filter(({ saidAt }) => saidAt.seq > after);
      return rest.sort((a, b) => a.saidAt.seq - b.saidAt.seq).slice(0, limit);
    },
    memories: async (lane, after, limit) => {
      const all = [...state.memories.values()].filter((memory) => memory.lane === lane);
      const rest = all.filter(({ id }) => after === null || id > after);
      return rest.sort((a, b) => (a.id < b.id ? -1 : 1)).slice(0, limit);
    },
    summaries: async (lane) =>
      state.summaries.flatMap((row) =>
        row.lane === lane && row.summary !== null
          ? [{ scope: row.scope, summary: row.summary, covers: coveredBy(state, row) }]
          : [],
      ),
  };
}
