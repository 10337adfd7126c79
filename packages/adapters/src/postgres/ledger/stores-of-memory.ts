import type { LaneId } from '@slowwave/engine';
import { findLane } from '../../ledger/lanes.ts';
import type { MemoryChanges } from '../../ledger/memories.ts';
import type { Access } from './access.ts';
import { runScript } from './script.ts';
import * as applying from './write/apply.ts';
import { openLaneId } from './write/lanes.ts';

export function memoryChanges({ read, write }: Access, newLaneId: () => LaneId): MemoryChanges {
  return {
    apply: (turn, application) => write((sql) => applying.apply(sql, { turn, application })),
    write: (tenant, change) => write((sql) => applying.write(sql, { tenant, ...change })),
    laneOf: async (tenant, owner, now) => {
      const known = await read((sql) => runScript(sql, findLane({ tenant, owner })));
      return known?.id ?? write((sql) => openLaneId(sql, { tenant, owner, now, newId: newLaneId() }));
    },
  };
}
