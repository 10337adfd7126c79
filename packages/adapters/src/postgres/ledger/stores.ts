import type { ReplayStore } from '@slowwave/engine';
import type { Access } from './access.ts';
import * as replays from './read/replays.ts';
import { advanceReplay, createReplay, forgetInReplays, moveReplay, takeReplay } from './write/replays.ts';

export function replayStore({ read, snapshot, write }: Access): ReplayStore {
  return {
    match: (tenant, filter, limit) => snapshot((sql) => replays.matchBatches(sql, { tenant, filter, limit })),
    create: (replay) => write((sql) => createReplay(sql, { replay })),
    get: (tenant, id) => read((sql) => replays.getReplay(sql, tenant, id)),
    list: (tenant, page) => read((sql) => replays.listReplays(sql, { tenant, page })),
    take: (now, until) => write((sql) => takeReplay(sql, { now, until })),
    advance: (id, how) => write((sql) => advanceReplay(sql, { id, ...how })),
    batches: (id, limit) => read((sql) => replays.batchesOfReplay(sql, id, limit)),
    states: (id) => read((sql) => replays.statesOfReplay(sql, id)),
    move: (id, step) => write((sql) => moveReplay(sql, { id, step })),
    forget: (tenant, owner) => write((sql) => forgetInReplays(sql, tenant, owner)),
    lives: (lane, before, page) => snapshot((sql) => replays.livesOf(sql, { lane, before, ...page })),
  };
}
