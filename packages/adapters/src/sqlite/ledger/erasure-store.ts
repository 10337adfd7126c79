import type { Compaction, ErasureStore } from '@slowwave/engine';
import type { Access } from './access.ts';
import { getErasure, isStanding, openErasures } from './read/erasures.ts';

/** `compact` runs between two transactions of the writer. */
export function erasureStore({ read, write }: Access, compact: () => Promise<Compaction>): ErasureStore {
  return {
    request: (tenant, owner, erasure) => write('requestErasure', { tenant, owner, erasure }),
    get: (tenant, id) => read((sql) => getErasure(sql, tenant, id)),
    open: (limit) => read((sql) => openErasures(sql, limit)),
    standing: (lane) => read((sql) => isStanding(sql, lane)),
    slice: (id, limit) => write('eraseSlice', { id, limit }),
    forgetOwner: (id) => write('forgetOwner', { id }),
    compact,
    finish: (ids, { remains, now }) => write('finishErasures', { ids, remains, now }),
  };
}
