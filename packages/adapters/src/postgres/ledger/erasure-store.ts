import type { Compaction, ErasureStore } from '@slowwave/engine';
import type { Access } from './access.ts';
import { getErasure, openErasures, standingLanes } from './read/erasures.ts';
import { eraseSlice, finishErasures, forgetOwner, requestErasure } from './write/erasures.ts';

export function erasureStore({ read, write }: Access, compact: () => Promise<Compaction>): ErasureStore {
  return {
    request: (tenant, owner, erasure) => write((sql) => requestErasure(sql, { tenant, owner, erasure })),
    get: (tenant, id) => read((sql) => getErasure(sql, tenant, id)),
    open: (limit) => read((sql) => openErasures(sql, limit)),
    standing: (lane) => read(async (sql) => (await standingLanes(sql, [lane])).has(lane)),
    slice: (id, limit) => write((sql) => eraseSlice(sql, { id, limit })),
    forgetOwner: (id) => write((sql) => forgetOwner(sql, id)),
    compact,
    finish: (ids, { remains, now }) => write((sql) => finishErasures(sql, { ids, remains, now })),
  };
}
