import type { BatchStore, LaneId, LaneStore, OutboxStore, ReplayStore } from '@slowwave/engine';
import { CLOCK_SEEN, clockNoted, clockShown } from '../../ledger/clock.ts';
import { inSlices } from '../../ledger/in-slices.ts';
import { countAside, lanesAside } from '../../ledger/set-aside.ts';
import type { Access } from './access.ts';
import * as batches from './read/batches.ts';
import * as lanes from './read/lanes.ts';
import * as outbox from './read/outbox.ts';
import * as replays from './read/replays.ts';
import { runScript } from './script.ts';

/** One transaction of a refill takes so many memories: a few milliseconds. */
const REFILL_SLICE = 1_000;

export function batchStore({ read, write }: Access, newLaneId: () => LaneId): BatchStore {
  return {
    append: (batch, policy) => write('append', { batch, policy, newLaneId: newLaneId() }),
    get: (tenant, id) => read((sql) => batches.getBatch(sql, tenant, id)),
    list: (tenant, filter, page) => read((sql) => batches.listBatches(sql, { tenant, filter, page })),
    events: (tenant, id) => read((sql) => batches.eventsOfBatch(sql, tenant, id)),
    parked: (tenant, filter, limit) => read((sql) => batches.parkedBatches(sql, { tenant, filter, limit })),
    replay: (tenant, ids, now) => write('replay', { tenant, ids, now }),
  };
}

export function laneStore({ read, write }: Access): LaneStore {
  return {
    claim: ({ lane, generation }, how) => write('claim', { job: { lane, generation }, ...how }),
    fail: (turn, how) => write('fail', { turn, ...how }),
    release: (turn, dueAt, why) => write('release', { turn, dueAt, why: why ?? null }),
    due: (now, limit, after) => read((sql) => lanes.dueLanes(sql, { now, limit, after: after ?? null })),
    lateTenants: (dueBefore, count) => read((sql) => lanes.lateTenants(sql, { dueBefore, lanes: count })),
    withWork: (after, limit) => read((sql) => lanes.lanesWithWork(sql, after, limit)),
    raise: ({ lane, generation }) => write('raiseLane', { lane, generation }),
    flush: (tenant, owner, now) => write('flush', { tenant, owner, now }),
    clockSetBack: async (now, { all }) => {
      // Asked every few seconds: the writer is not woken for nothing.
      const isNeeded = all || (await read((sql) => lanes.isAnyAhead(sql, now)));
      return isNeeded ? write('clockSetBack', { now, all }) : 0;
    },
    clockSeen: async (now) => {
      const { latest, isDue } = clockNoted(await read((sql) => sql.get(CLOCK_SEEN, {})), now);
      if (isDue) await write('noteClock', { now });
      return latest;
    },
    clockShown: async () => clockShown(await read((sql) => sql.get(CLOCK_SEEN, {}))),
    find: (tenant, owner) => read((sql) => lanes.findLane(sql, tenant, owner)),
    get: (id) => read((sql) => lanes.getLane(sql, id)),
  };
}

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

export function outboxStore({ read, write }: Access): OutboxStore {
  return {
    ofLane: (lane, limit) => read((sql) => outbox.entriesOfLane(sql, lane, limit)),
    setAside: (lanes) => write('setLanesAside', { lanes }),
    takeUp: (lanes) => write('takeLanesUp', { lanes }),
    aside: (until, limit) => read((sql) => runScript(sql, lanesAside({ until, limit }))),
    countAside: () => read((sql) => runScript(sql, countAside())),
    pending: (limit) => read((sql) => outbox.pendingEntries(sql, limit)),
    ofMemories: (memoryIds) => read((sql) => outbox.entriesOfMemories(sql, memoryIds)),
    ofConsolidation: (id) => read((sql) => outbox.entriesOfConsolidation(sql, id)),
    clear: (told, now) => write('clearOutbox', { told, now }),
    refill: async () => {
      const filled = await inSlices((after) => write('refillOutbox', { after, limit: REFILL_SLICE }));
      await inSlices((after) => write('refillSpeech', { after, limit: REFILL_SLICE }));
      return filled;
    },
    retell: (lane) => write('retellLane', { lane }),
    refilling: () => read(outbox.isRefilling),
  };
}
