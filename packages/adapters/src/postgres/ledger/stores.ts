import type { BatchStore, LaneId, LaneStore, OutboxStore, ReplayStore } from '@slowwave/engine';
import { CLOCK_SEEN, clockNoted, clockShown, NOTE_CLOCK } from '../../ledger/clock.ts';
import { inSlices } from '../../ledger/in-slices.ts';
import { countAside, lanesAside, takeUp } from '../../ledger/set-aside.ts';
import type { Access } from './access.ts';
import type { AppendGroups } from './append-groups.ts';
import * as batches from './read/batches.ts';
import * as lanes from './read/lanes.ts';
import * as outbox from './read/outbox.ts';
import * as replays from './read/replays.ts';
import { runScript } from './script.ts';
import { claim } from './write/claim.ts';
import { fail, release } from './write/fail.ts';
import { flush, replay } from './write/flush.ts';
import { clockSetBack, raiseLane } from './write/lanes.ts';
import { clearOutbox, refillOutbox, refillSpeech, retellLane, setLanesAside } from './write/outbox.ts';
import { advanceReplay, createReplay, forgetInReplays, moveReplay, takeReplay } from './write/replays.ts';

/** One transaction of a refill takes so many memories: some ten milliseconds. */
const REFILL_SLICE = 1_000;

export function batchStore({ read, write }: Access, groups: AppendGroups, newLaneId: () => LaneId): BatchStore {
  return {
    append: (batch, policy) => groups.append({ batch, policy, newLaneId: newLaneId() }),
    get: (tenant, id) => read((sql) => batches.getBatch(sql, tenant, id)),
    list: (tenant, filter, page) => read((sql) => batches.listBatches(sql, { tenant, filter, page })),
    events: (tenant, id) => read((sql) => batches.eventsOfBatch(sql, tenant, id)),
    parked: (tenant, filter, limit) => read((sql) => batches.parkedBatches(sql, { tenant, filter, limit })),
    replay: (tenant, ids, now) => write((sql) => replay(sql, { tenant, ids, now })),
  };
}

export function laneStore({ read, write }: Access): LaneStore {
  return {
    claim: (job, how) => write((sql) => claim(sql, { job, ...how })),
    fail: (turn, how) => write((sql) => fail(sql, { turn, ...how })),
    release: (turn, dueAt, why) => write((sql) => release(sql, { turn, dueAt, why: why ?? null })),
    due: (now, limit, after) => read((sql) => lanes.dueLanes(sql, { now, limit, after: after ?? null })),
    lateTenants: (dueBefore, count) => read((sql) => lanes.lateTenants(sql, { dueBefore, lanes: count })),
    withWork: (after, limit) => read((sql) => lanes.lanesWithWork(sql, after, limit)),
    raise: (nudge) => write((sql) => raiseLane(sql, nudge)),
    flush: (tenant, owner, now) => write((sql) => flush(sql, { tenant, owner, now })),
    clockSetBack: (now, { all }) => write((sql) => clockSetBack(sql, { now, all })),
    clockSeen: async (now) => {
      const { latest, isDue } = clockNoted(await read((sql) => sql.get(CLOCK_SEEN, {})), now);
      if (isDue) await write((sql) => sql.run(NOTE_CLOCK, { shown: String(now) }));
      return latest;
    },
    clockShown: async () => clockShown(await read((sql) => sql.get(CLOCK_SEEN, {}))),
    find: (tenant, owner) => read((sql) => lanes.findLane(sql, tenant, owner)),
    get: (id) => read((sql) => lanes.getLane(sql, id)),
  };
}

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

export function outboxStore({ read, write }: Access): OutboxStore {
  return {
    ofLane: (lane, limit) => read((sql) => outbox.entriesOfLane(sql, lane, limit)),
    setAside: (lanes) => write((sql) => setLanesAside(sql, lanes)),
    takeUp: (lanes) => write((sql) => runScript(sql, takeUp(lanes))),
    aside: (until, limit) => read((sql) => runScript(sql, lanesAside({ until, limit }))),
    countAside: () => read((sql) => runScript(sql, countAside())),
    pending: (limit) => read((sql) => outbox.pendingEntries(sql, limit)),
    ofMemories: (memoryIds) => read((sql) => outbox.entriesOfMemories(sql, memoryIds)),
    ofConsolidation: (id) => read((sql) => outbox.entriesOfConsolidation(sql, id)),
    clear: (told, now) => write((sql) => clearOutbox(sql, { told, now })),
    refill: async () => {
      const filled = await inSlices((after) => write((sql) => refillOutbox(sql, { after, limit: REFILL_SLICE })));
      await inSlices((after) => write((sql) => refillSpeech(sql, { after, limit: REFILL_SLICE })));
      return filled;
    },
    retell: (lane) => write((sql) => retellLane(sql, lane)),
    refilling: () => read(outbox.isRefilling),
  };
}
