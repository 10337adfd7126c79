import type { UndoStore } from '@slowwave/engine';
import type { Access } from './access.ts';
import * as undos from './read/undos.ts';
import { writeUndo } from './write/undos.ts';

export function undoStore({ read, write }: Access): UndoStore {
  return {
    get: (tenant, id) => read((sql) => undos.getUndo(sql, tenant, id)),
    list: (tenant, filter, page) => read((sql) => undos.listUndos(sql, { tenant, filter, page })),
    ofLane: (lane) => read((sql) => undos.undosOfLane(sql, lane)),
    touched: (tenant, by) => read((sql) => undos.touchedMemories(sql, tenant, by)),
    events: (tenant, memoryIds) => read((sql) => undos.eventsOfMemories(sql, tenant, memoryIds)),
    appliedAfter: (lane, after) => read((sql) => undos.appliedAfter(sql, lane, after)),
    write: (tenant, undoing) => write((sql) => writeUndo(sql, { tenant, undoing })),
  };
}
