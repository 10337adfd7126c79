import {
  idListsOf,
  isUnder,
  liveVersion,
  type Memory,
  type SaidIdStore,
  saidIds,
  type TenantId,
  type UsedId,
} from '@slowwave/engine';
import { pageAscending } from './memory-ledger-page.ts';
import { isExpired } from './memory-ledger-reads.ts';
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
    memories: async (tenant, { named, now }, page) => {
      if (Object.keys(named).length === 0) throw new Error('expected an agent, run or app, got none');
      const said = holding(state, tenant).filter(
        (memory) => isUnder(idListsOf(memory), named) && !isExpired(memory, now),
      );
      return pageAscending(said, ({ id }) => ['', id], page);
    },
    list: async (tenant, page) => {
      const used = new Map<string, UsedId>();
      for (const { kind, id, first, last } of holding(state, tenant).flatMap(saidIds)) {
        const known = used.get(`${kind} ${id}`) ?? { kind, id, memories: 0, first, last };
        used.set(`${kind} ${id}`, {
          ...known,
          memories: known.memories + 1,
          first: Math.min(known.first, first),
          last: Math.max(known.last, last),
        });
      }
      return pageAscending([...used.values()], ({ kind, id }) => [kind, id], page);
    },
  };
}

const holding = (state: State, tenant: TenantId): Memory[] =>
  [...state.memories.values()].filter(
    (memory) => memory.tenant === tenant && isStanding(state, memory.lane) && liveVersion(memory) !== null,
  );
