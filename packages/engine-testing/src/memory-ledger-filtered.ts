import { type FilteredStore, filterableOf, type MemoryStore, matches } from '@slowwave/engine';
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
