import type { ReplayStore } from '@slowwave/engine';
import type { Access } from './access.ts';
import * as replays from './read/replays.ts';

export function replayStore({ read, write }: Access): ReplayStore {
  return {
    match: (tenant, filter, limit) => read((sql) => replays.matchBatches(sql, { tenant, filter, limit })),
    create: (replay) => write('createReplay', { replay }),
    get: (tenant, id) => read((sql) => replays.getReplay(sql, tenant, id)),
    list: (tenant, page) => read((sql) => replays.listReplays(sql, { tenant, page })),
    take: (now, until) => write('takeReplay', { now, until }),
    advance: (id, how) => write('advanceReplay', { id, ...how }),
    batches: (id, limit) => read((sql) => replays.batchesOfReplay(sql, id, limit)),
    states: (id) => read((sql) => replays.statesOfReplay(sql, id)),
    move: (id, step) => write('moveReplay', { id, step }),
    forget: (tenant, owner) => write('forgetInReplays', { tenant, owner }),
    lives: (lane, before, page) => read((sql) => replays.livesOf(sql, { lane, before, ...page })),
  };
}
