import type { LaneId, MemoryStore } from '@slowwave/engine';
import { findLane } from '../../ledger/lanes.ts';
import type { Access } from './access.ts';
import * as memories from './read/memories.ts';
import { messagesById, sourcesOf } from './read/sources.ts';
import { runScript } from './script.ts';
import * as applying from './write/apply.ts';
import { openLaneId } from './write/lanes.ts';

export function memoryStore({ read, write }: Access, newLaneId: () => LaneId): MemoryStore {
  return {
    apply: (turn, application) => write((sql) => applying.apply(sql, { turn, application })),
    write: (tenant, change) => write((sql) => applying.write(sql, { tenant, ...change })),
    laneOf: async (tenant, owner, now) => {
      const known = await read((sql) => runScript(sql, findLane({ tenant, owner })));
      return known?.id ?? write((sql) => openLaneId(sql, { tenant, owner, now, newId: newLaneId() }));
    },
    get: (tenant, id) => read((sql) => memories.getMemory(sql, tenant, id)),
    many: (tenant, ids) => read((sql) => memories.manyMemories(sql, tenant, ids)),
    unprojected: (lane) => read((sql) => memories.unprojectedMemories(sql, lane)),
    tombstones: (lane, textHashes) => read((sql) => memories.tombstonesOf(sql, lane, textHashes)),
    list: (...[tenant, scope, now, page]) => read((sql) => memories.listMemories(sql, { tenant, scope, now, page })),
    liveIds: (tenant, scope) => read((sql) => memories.liveIds(sql, tenant, scope)),
    every: (after, limit) => read((sql) => memories.everyMemory(sql, after, limit)),
    history: (tenant, id, page) => read((sql) => memories.historyOf(sql, { tenant, id, page })),
    sources: (tenant, id, around) => read((sql) => sourcesOf(sql, { tenant, id, ...around })),
    messages: (tenant, ids) => read((sql) => messagesById(sql, tenant, ids)),
  };
}
