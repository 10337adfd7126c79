import { type SaidIdStore, saidIds } from '@slowwave/engine';
import type { State } from './memory-ledger-state.ts';
import { isStanding } from './memory-ledger-turns.ts';

export function memorySaidIds(state: State): SaidIdStore {
  return {
    of: async (tenant, memoryId) => {
      const memory = state.memories.get(memoryId);
      return memory?.tenant === tenant && isStanding(state, memory.lane) ? saidIds(memory) : [];
    },
    beyondIndex: async (lane, ids) =>
      [...state.memories.values()]
        .filter((memory) => memory.lane === lane)
        .flatMap((memory) => saidIds(memory).map((said) => ({ ...said, memoryId: memory.id })))
        .filter((said) => !said.indexed && ids.some(({ kind, id }) => kind === said.kind && id === said.id))
        .map(({ kind, id, memoryId }) => ({ kind, id, memoryId })),
  };
}
