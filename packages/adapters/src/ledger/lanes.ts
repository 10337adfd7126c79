import type {
  DueMark,
  Lane,
  LaneId,
  LaneStore,
  Millis,
  NewBatch,
  Nudge,
  Owner,
  TenantId,
  TurnName,
} from '@slowwave/engine';
import { ownerOf } from '@slowwave/engine/storing';
import { type Access, asLookup, asRead, asWrite } from './access.ts';
import { claim } from './claim.ts';
import { clockSeen, clockSetBack, isAnyAhead, isTimeToNote, noteClock } from './clock.ts';
import { fail, release } from './fail.ts';
import { flush as makeDue, raise as raiseLane } from './lane-life.ts';
import { type LaneRow, laneFrom, NUDGE_COLUMNS, type NudgeRow, nudgeFrom } from './rows/lane.ts';
import { all, first, run, type Script } from './script.ts';
import { lockLane, saveLane } from './turn.ts';

export const laneStore = ({ read, write }: Access): LaneStore => ({
  claim: ({ lane, generation }, how) => write(claim, { job: { lane, generation }, ...how }),
  fail: (turn, how) => write(fail, { turn, ...how }),
  release: (turn, dueAt, why) => write(release, { turn, dueAt, why: why ?? null }),
  due: (now, limit, after) => read(dueLanes, { now, limit, after: after ?? null }),
  lateTenants: (dueBefore, lanes) => read(lateTenants, { dueBefore, lanes }),
  withWork: (after, limit) => read(lanesWithWork, { after, limit }),
  raise: ({ lane, generation }) => write(raise, { lane, generation }),
  flush: (tenant, owner, now) => write(flush, { tenant, owner, now }),
  clockSetBack: async (now, { all: everything }) => {
    // Asked every few seconds: nothing is written, and no writer woken, for nothing.
    const isNeeded = everything || (await read(isAnyAhead, { now }));
    return isNeeded ? write(clockSetBack, { now, all: everything }) : 0;
  },
  clockSeen: async (now) => {
    const latest = await read(clockSeen, null);
    if (latest !== null && !isTimeToNote(latest, now)) return latest;
    await write(noteClock, { now });
    return now;
  },
  clockShown: () => read(clockSeen, null),
  find: (tenant, owner) => read(find, { tenant, owner }),
  get: (id) => read(getLane, { id }),
});

const getLane = asLookup('lanes.get', function* ({ id }: { id: LaneId }): Script<Lane | null> {
  const row = yield* first<LaneRow>('SELECT * FROM lanes WHERE id = @id', { id });
  return row === null ? null : laneFrom(row);
});

export interface OwnedBy {
  readonly tenant: TenantId;
  readonly owner: Owner;
}

export const ownerOfBatch = ({ tenant, scope }: Pick<NewBatch, 'tenant' | 'scope'>): OwnedBy => ({
  tenant,
  owner: ownerOf(scope),
});

export const find = asLookup('lanes.find', findLane);

function* findLane(of: OwnedBy): Script<Lane | null> {
  const row = yield* laneOfOwner(of, '');
  return row === null ? null : laneFrom(row);
}

/** The lane of an owner, locked. */
export const lockOwner = (of: OwnedBy): Script<LaneRow | null> => laneOfOwner(of, ' FOR NO KEY UPDATE');

const laneOfOwner = ({ tenant, owner }: OwnedBy, lock: string): Script<LaneRow | null> =>
  first<LaneRow>(`SELECT * FROM lanes WHERE tenant = @tenant AND owner_kind = @kind AND owner_id = @ownerId${lock}`, {
    tenant,
    kind: owner.kind,
    ownerId: owner.id,
  });

interface Due {
  readonly now: Millis;
  readonly limit: number;
  readonly after: DueMark | null;
}

/** Longest due first. Consolidating lanes too: their worker may have died together with the queue. */
const dueLanes = asRead('lanes.due', function* ({ now, limit, after }: Due): Script<readonly Nudge[]> {
  const mark = { afterDue: after?.dueAt ?? 0, afterLane: after?.lane ?? '' };
  return (yield* all<NudgeRow>(SELECT_DUE, { now, limit, ...mark })).map(nudgeFrom);
});

const SELECT_DUE = `
  SELECT ${NUDGE_COLUMNS} FROM lanes
  WHERE state <> 'idle' AND NOT paused AND due_at <= @now AND (due_at, id) > (@afterDue, @afterLane)
  ORDER BY due_at, id LIMIT @limit`;

interface Late {
  readonly dueBefore: Millis;
  readonly lanes: number;
}

/** By what `priorityOf` calls live. */
const lateTenants = asRead('lanes.lateTenants', function* (how: Late): Script<readonly TenantId[]> {
  const text = `
    SELECT tenant FROM lanes
    WHERE state <> 'idle' AND NOT paused AND due_at < @dueBefore
      AND (pending > pending_backfill OR (state = 'consolidating' AND NOT nudged_backfill))
    GROUP BY tenant HAVING count(*) >= @lanes ORDER BY tenant`;
  return (yield* all<{ tenant: TenantId }>(text, { ...how })).map(({ tenant }) => tenant);
});

interface WithWork {
  readonly after: LaneId | null;
  readonly limit: number;
}

/** By lane id. */
const lanesWithWork = asRead('lanes.withWork', function* ({ after, limit }: WithWork): Script<readonly Nudge[]> {
  const text = `
    SELECT ${NUDGE_COLUMNS} FROM lanes
    WHERE state <> 'idle' AND NOT paused AND id > @after ORDER BY id LIMIT @limit`;
  return (yield* all<NudgeRow>(text, { after: after ?? '', limit })).map(nudgeFrom);
});

/** Raises the generation, if the lane still stands at this one and has work. */
const raise = asWrite('lanes.raise', function* ({ lane: id, generation }: TurnName): Script<Nudge | null> {
  const lane = yield* lockLane(id);
  if (lane === null || lane.state === 'idle' || lane.generation !== generation) return null;
  const { lane: raised, nudge } = raiseLane(lane);
  yield* saveLane(raised);
  return nudge;
});

interface Flush extends OwnedBy {
  readonly now: Millis;
}

interface Flushed {
  readonly pending: number;
  readonly nudge: Nudge | null;
}

/** Everything an owner has waiting is due now, or right after the consolidation that runs. */
const flush = asWrite('lanes.flush', function* ({ now, ...of }: Flush): Script<Flushed> {
  const lane = yield* lockOwner(of);
  if (lane === null || lane.pending === 0) return { pending: 0, nudge: null };
  const step = makeDue(lane, lane.next_position - 1, now);
  yield* saveLane(step.lane);
  return { pending: lane.pending, nudge: step.nudge };
});

/** The lane of an owner of whom nothing was known. */
export interface NewLane extends OwnedBy {
  readonly newId: LaneId;
  readonly now: Millis;
}

/** The id of an owner's lane, made if missing. */
export const openLane = asWrite('lanes.open', function* (lane: NewLane): Script<LaneId> {
  yield* insertLane(lane);
  let found = yield* findLane(lane);
  if (found === null) {
    // An erasure has just taken the lane that was there from its owner, who gets this one.
    yield* insertLane(lane);
    found = yield* findLane(lane);
  }
  if (found === null) throw new Error(`lane ${lane.newId} is missing right after it was made`);
  return found.id;
});

/** Nothing where the owner has a lane already. */
export function* insertLane({ tenant, owner, newId, now }: NewLane): Script<void> {
  yield* run(INSERT_LANE, { id: newId, tenant, kind: owner.kind, ownerId: owner.id, now });
}

const INSERT_LANE = `
  INSERT INTO lanes (
    id, tenant, owner_kind, owner_id, state, generation, epoch, paused, next_position, next_seq,
    pending, pending_tokens, pending_backfill, nudged_backfill, flush_through, attempts, created_at, updated_at
  ) VALUES (@id, @tenant, @kind, @ownerId, 'idle', 0, 0, false, 1, 1, 0, 0, 0, false, 0, 0, @now, @now)
  ON CONFLICT (tenant, owner_kind, owner_id) DO NOTHING`;
