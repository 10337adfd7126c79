import type { FilteredStore } from '../ports/ledger/filtered.ts';
import type { MemoryStore } from '../ports/ledger/memories.ts';
import { filterableOf, matches } from '../rules/filter/matches.ts';
import { pageOf } from './memory-ledger-page.ts';

export function memoryFiltered(memories: Pick<MemoryStore, 'list'>): FilteredStore {
  return {
    list: async (tenant, { scope, where, now }, page) => {
      const all = await memories.list(tenant, scope, now, { limit: Number.POSITIVE_INFINITY, cursor: null });
      const fitting = all.results.filter((memory) => matches(where, filterableOf(memory)));
      return pageOf(fitting, (memory) => ({ order: memory.createdAt, id: memory.id }), page);
    },
  };
}
