import type { LaneId } from '@slowwave/engine';
import { findLane } from '../../ledger/lanes.ts';
import type { MemoryChanges } from '../../ledger/memories.ts';
import type { Access } from './access.ts';
import { runScript } from './script.ts';

export function memoryChanges({ read, write }: Access, newLaneId: () => LaneId): MemoryChanges {
  return {
    apply: (turn, application) => write('apply', { turn, application }),
    write: (tenant, change) => write('write', { tenant, ...change }),
    laneOf: async (tenant, owner, now) => {
      const known = await read((sql) => runScript(sql, findLane({ tenant, owner })));
      return known?.id ?? write('openLaneId', { tenant, owner, now, newId: newLaneId() });
    },
  };
}
