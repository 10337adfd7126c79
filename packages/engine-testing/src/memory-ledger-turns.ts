import {
  type Destination,
  type DuePolicy,
  type LaneId,
  type Millis,
  type Nudge,
  type Owner,
  ownerBitsOf,
  type Priority,
  type TenantId,
  type Turn,
} from '@slowwave/engine';
import { ownerAway, ownerKeyOf, silenceOf, spaceIn } from '@slowwave/engine/storing';
import { type BatchRow, type LaneRow, rowOf, type State } from './memory-ledger-state.ts';

/** The lane of an owner, made if missing. */
export function ensureLane(state: State, tenant: TenantId, how: { owner: Owner; now: Millis }): LaneRow {
  const found = findLane(state, tenant, how.owner);
  if (found !== null) return found;
  const to = spaceIn(tenant) === null ? elsewhere(state, tenant, how.owner) : null;
  if (to !== null) throw ownerAway(how.owner, to);
  const lane: LaneRow = {
    id: state.tools.id('lane', ownerBitsOf(state.tools, { tenant, owner: how.owner })) as LaneId,
    tenant,
    owner: how.owner,
    state: 'idle',
    generation: 0,
    epoch: 0,
    dueAt: null,
    attempts: 0,
    consolidationId: null,
    erasure: null,
    windowLimit: null,
    held: null,
    keptWindows: 0,
    leavingUntil: 0,
    newestAt: null,
    pace: null,
    pauses: [],
    nudged: 'live',
    lastPosition: 0,
    lastMessage: 0,
    createdAt: how.now,
    updatedAt: how.now,
  };
  state.lanes.set(lane.id, lane);
  return lane;
}

/** Where an owner is that may not get a lane here. */
export function elsewhere({ away, closedSlots, tools }: State, tenant: TenantId, owner: Owner): Destination | null {
  const known = away.get(ownerKeyOf(tools, { tenant, owner }));
  if (known !== undefined) return known.to;
  const slot = ownerBitsOf(tools, { tenant, owner });
  const isClosed = closedSlots.closed.some(({ first, last }) => first <= slot && slot <= last);
  return isClosed ? { cell: null, epoch: closedSlots.epoch } : null;
}

export function findLane(state: State, tenant: TenantId, owner: Owner): LaneRow | null {
  for (const lane of state.lanes.values()) {
    if (lane.erasure !== null) continue;
    if (lane.tenant === tenant && lane.owner.kind === owner.kind && lane.owner.id === owner.id) return lane;
  }
  return null;
}

/** Whether a lane is not cut off: what is being erased is nobody's to read. */
export const isStanding = (state: State, lane: LaneId): boolean => state.lanes.get(lane)?.erasure === null;

/** Whether a lane is the one that a user lives in; any that stands, where nobody is asked for. */
export function isOfUser(state: State, lane: LaneId, userId: string | undefined): boolean {
  if (userId === undefined) return isStanding(state, lane);
  const row = state.lanes.get(lane);
  return row?.erasure === null && row.owner.kind === 'user' && row.owner.id === userId;
}

/** The lane's batches that wait, in order. */
export function waitingOf(state: State, lane: LaneId): BatchRow[] {
  return state.batches
    .ofLane(lane)
    .filter((batch) => batch.state === 'pending')
    .sort((a, b) => a.position - b.position);
}

/** When waiting batches are due: at once when one is urgent or they fill a window, else when idle or too old. */
export function dueAtOf(
  state: State,
  { id, pace }: LaneRow,
  { policy, now }: { policy: DuePolicy; now: Millis },
): Millis {
  const waiting = waitingOf(state, id);
  const tokens = waiting.reduce((sum, batch) => sum + batch.tokens, 0);
  const exchanges = waiting.reduce((sum, batch) => sum + batch.exchanges, 0);
  if (tokens >= policy.tokens || exchanges >= (policy.exchanges ?? Number.POSITIVE_INFINITY)) return now;
  if (waiting.some((batch) => batch.urgent)) return now;
  const accepted = waiting.map((batch) => Math.min(batch.acceptedAt, now));
  const silence = silenceOf({ pace, isLive: waiting.some(({ priority }) => priority === 'live') }, policy);
  return Math.min(Math.max(...accepted) + silence, Math.min(...accepted) + policy.maxAgeMs);
}

export const nudgeOf = (state: State, lane: LaneRow): Nudge => ({
  lane: lane.id,
  tenant: lane.tenant,
  generation: lane.generation,
  priority: priorityOf(state, lane),
  dueAt: lane.dueAt ?? 0,
});

/** Live as soon as one live batch waits. A pinned window stays what it was when it was taken. */
function priorityOf(state: State, lane: LaneRow): Priority {
  if (waitingOf(state, lane.id).some((batch) => batch.priority === 'live')) return 'live';
  return lane.state === 'consolidating' ? lane.nudged : 'backfill';
}

/** A new generation of the lane waits until `dueAt`. */
export function wake(state: State, lane: LaneRow, dueAt: Millis): Nudge {
  lane.state = 'waiting';
  lane.dueAt = dueAt;
  return raised(state, lane);
}

/** A job of a new generation takes the place of the one there was. */
export function raised(state: State, lane: LaneRow): Nudge {
  lane.generation += 1;
  lane.nudged = priorityOf(state, lane);
  return nudgeOf(state, lane);
}

/** Whether its job would run behind all that is live, and must not any more. */
export const isTooLow = (state: State, lane: LaneRow): boolean =>
  lane.nudged === 'backfill' && priorityOf(state, lane) === 'live';

/** Waiting batches became urgent. A lane that is due already, or consolidating, needs no nudge. */
export function hasten(state: State, lane: LaneRow, now: Millis): Nudge | null {
  if (lane.state === 'consolidating') return null;
  const isDue = lane.state === 'waiting' && lane.dueAt !== null && lane.dueAt <= now;
  if (!isDue) return wake(state, lane, now);
  return isTooLow(state, lane) ? raised(state, lane) : null;
}

/** The lane of a turn, or null when a later claim took it. */
export function heldBy(state: State, turn: Turn): LaneRow | null {
  const lane = state.lanes.get(turn.lane);
  const holds = lane?.epoch === turn.epoch && lane.consolidationId === turn.consolidationId;
  return lane !== undefined && holds ? lane : null;
}

export const pinnedOf = (state: State, consolidationId: string): BatchRow[] =>
  rowOf(state.consolidations, consolidationId)
    .batchIds.map((id) => rowOf(state.batches, id))
    .filter((batch) => batch.consolidationId === consolidationId);

/** The lane's consolidation is over: the next generation, or rest. */
export function moveOn(state: State, lane: LaneRow, how: { policy: DuePolicy; now: Millis }): Nudge | null {
  lane.consolidationId = null;
  lane.windowLimit = null;
  lane.attempts = 0;
  if (waitingOf(state, lane.id).length > 0) return wake(state, lane, dueAtOf(state, lane, how));
  lane.state = 'idle';
  lane.dueAt = null;
  return null;
}
