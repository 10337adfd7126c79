import type { Lane, LaneId, LaneStore, Millis, NewBatch, TenantId } from '@slowwave/engine';
import { CLOCK_AHEAD_MS, CLOCK_NOTED_MS, EngineError, ownerAway, ownerOf, withPause } from '@slowwave/engine/storing';
import { elsewhere, entryOf, mayEnter, type OwnedBy } from './away.ts';
import { claim, fail, release } from './claim.ts';
import {
  type LaneRow,
  laneFrom,
  flush as makeDue,
  NUDGE_COLUMNS,
  nudgeFrom,
  pausesFrom,
  raise as raiseLane,
} from './lane-life.ts';
import { ofOwner } from './page.ts';
import { type Access, allAs, few, first, firstAs, lookup, read, run, type Script, storeOf, write } from './script.ts';
import { lockLane, saveLane } from './turn.ts';

export function laneStore(access: Access): LaneStore {
  const { isAnyAhead, setBack, noteClock, open: _, ...store } = laneScripts(access);
  return {
    ...store,
    clockSetBack: async (now, { all }) => {
      // Asked every few seconds: nothing is written, and no writer woken, for nothing.
      const isNeeded = all || (await isAnyAhead(now));
      return isNeeded ? setBack(now, all) : 0;
    },
    clockSeen: async (now) => {
      const latest = await store.clockShown();
      if (latest !== null && now < latest + CLOCK_NOTED_MS) return latest;
      await noteClock(now);
      return now;
    },
  };
}

interface LaneScripts extends Omit<LaneStore, 'clockSetBack' | 'clockSeen'> {
  /** The id of an owner's lane, made if missing. */
  open(lane: NewLane): Promise<LaneId>;
  /** Whether a lane took messages from a clock that was ahead. */
  isAnyAhead(now: Millis): Promise<boolean>;
  /** How many lanes are due now that waited for a time that a clock named while it was ahead. */
  setBack(now: Millis, all: boolean): Promise<number>;
  noteClock(now: Millis): Promise<void>;
}

export const laneScripts = storeOf<LaneScripts>('lanes', {
  claim: write(claim),
  fail: write(fail),
  release: write(release),
  /** Longest due first. Consolidating lanes too: their worker may have died together with the queue. */
  due: few((now, limit, after) =>
    allAs(nudgeFrom, SELECT_DUE, { now, limit, afterDue: after?.dueAt ?? 0, afterLane: after?.lane ?? '' }),
  ),
  /** By what `priorityOf` calls live. */
  lateTenants: read((dueBefore, lanes) =>
    allAs(({ tenant }: { tenant: TenantId }) => tenant, SELECT_LATE, { dueBefore, lanes }),
  ),
  /** By lane id. */
  withWork: read((after, limit) => allAs(nudgeFrom, SELECT_WITH_WORK, { after: after ?? '', limit })),
  /** Raises the generation, if the lane still stands at this one and has work. */
  raise: write(function* ({ lane: id, generation }) {
    const lane = yield* lockLane(id);
    if (lane === null || lane.state === 'idle' || lane.generation !== generation) return null;
    const { lane: raised, nudge } = raiseLane(lane);
    yield* saveLane(raised);
    return nudge;
  }),
  /** Everything an owner has waiting is due now, or right after the consolidation that runs. */
  flush: write(function* (tenant, owner, now) {
    const lane = yield* lockOwner({ tenant, owner });
    if (lane === null || lane.pending === 0) return { pending: 0, nudge: null };
    const step = makeDue(lane, lane.next_position - 1, now);
    yield* saveLane(step.lane);
    return { pending: lane.pending, nudge: step.nudge };
  }),
  pause: write(function* (id, how) {
    const lane = yield* lockLane(id);
    if (lane === null || lane.erasure !== null) return null;
    const pauses = JSON.stringify(withPause(pausesFrom(lane), how));
    yield* run('UPDATE lanes SET pauses = @pauses::jsonb WHERE id = @id', { id, pauses });
    return laneFrom({ ...lane, pauses });
  }),
  /** The latest moment that a worker's clock has shown; null: none has shown any. */
  clockShown: lookup(() =>
    firstAs(({ value }: { value: string }) => Number(value), "SELECT value FROM meta WHERE key = 'clock_seen'"),
  ),
  find: lookup((tenant, owner) => findLane({ tenant, owner })),
  get: lookup((id) => firstAs(laneFrom, 'SELECT * FROM lanes WHERE id = @id', { id })),
  open: write(openLane),
  isAnyAhead: few(function* (now) {
    const text = `SELECT 1 AS found FROM lanes WHERE ${LANES_AHEAD} LIMIT 1`;
    return (yield* first(text, { now, ahead: now + CLOCK_AHEAD_MS })) !== null;
  }),
  setBack: write(function* (now, all) {
    if (!all) return yield* run(`${HASTEN_LANES} WHERE ${LANES_AHEAD}`, { now, ahead: now + CLOCK_AHEAD_MS });
    for (const statement of HASTEN_OTHERS) yield* run(statement, { now, shown: String(now) });
    return yield* run(`${HASTEN_LANES} WHERE ${LATER_LANES}`, { now });
  }),
  /** As text, like all in this table. */
  noteClock: write(function* (now) {
    yield* run(
      `INSERT INTO meta (key, value) VALUES ('clock_seen', @shown)
       ON CONFLICT (key) DO UPDATE SET value = excluded.value`,
      { shown: String(now) },
    );
  }),
});

export const ownerOfBatch = ({ tenant, scope }: Pick<NewBatch, 'tenant' | 'scope'>): OwnedBy => ({
  tenant,
  owner: ownerOf(scope),
});

function* findLane(of: OwnedBy): Script<Lane | null> {
  const row = yield* laneOfOwner(of);
  return row === null ? null : laneFrom(row);
}

/** Nothing is added to a lane while its owner sleeps. */
export function requireAwake({ cold }: Pick<LaneRow, 'cold'>): void {
  if (cold === null) return;
  throw new EngineError('the owner sleeps; wake it and retry', { code: 'owner_asleep', retryable: true });
}

/** The lane of an owner, locked. */
export const lockOwner = (of: OwnedBy): Script<LaneRow | null> => laneOfOwner(of, ' FOR NO KEY UPDATE');

/** The same without a lock: nobody waits for a reader. */
export const laneOfOwner = ({ tenant, owner }: OwnedBy, lock = ''): Script<LaneRow | null> =>
  first<LaneRow>(`SELECT * FROM lanes WHERE ${ofOwner('@kind', '@ownerId')}${lock}`, {
    tenant,
    kind: owner.kind,
    ownerId: owner.id,
  });

const SELECT_DUE = `
  SELECT ${NUDGE_COLUMNS} FROM lanes
  WHERE state <> 'idle' AND held IS NULL AND due_at <= @now AND (due_at, id) > (@afterDue, @afterLane)
  ORDER BY due_at, id LIMIT @limit`;

const SELECT_LATE = `
  SELECT tenant FROM lanes
  WHERE state <> 'idle' AND held IS NULL AND due_at < @dueBefore
    AND (pending > pending_backfill OR (state = 'consolidating' AND NOT nudged_backfill))
  GROUP BY tenant HAVING count(*) >= @lanes ORDER BY tenant`;

const SELECT_WITH_WORK = `
  SELECT ${NUDGE_COLUMNS} FROM lanes
  WHERE state <> 'idle' AND held IS NULL AND id > @after ORDER BY id LIMIT @limit`;

/** The lane of an owner of whom nothing was known. */
export interface NewLane extends OwnedBy {
  readonly newId: LaneId;
  readonly now: Millis;
}

export function* openLane(lane: NewLane): Script<LaneId> {
  yield* insertLane(lane);
  let found = yield* findLane(lane);
  if (found === null) {
    // An erasure has just taken the lane that was there from its owner, who gets this one.
    yield* insertLane(lane);
    found = yield* findLane(lane);
  }
  if (found !== null) return found.id;
  const to = yield* elsewhere(lane, lane.newId);
  if (to !== null) throw ownerAway(lane.owner, to);
  throw new Error(`lane ${lane.newId} is missing right after it was made`);
}

/** Nothing where the owner has a lane already, or may not get one here. */
export function* insertLane(lane: NewLane, entry = entryOf(lane, lane.newId)): Script<void> {
  const { tenant, owner, newId, now } = lane;
  yield* run(INSERT_LANE, { id: newId, tenant, kind: owner.kind, ownerId: owner.id, now, ...entry });
}

const INSERT_LANE = `
  INSERT INTO lanes (
    id, tenant, owner_kind, owner_id, state, generation, epoch, next_position, next_seq,
    pending, pending_tokens, pending_backfill, nudged_backfill, flush_through, attempts, created_at, updated_at
  )
  SELECT @id, @tenant, @kind, @ownerId, 'idle', 0, 0, 1, 1, 0, 0, 0, false, 0, 0, @now, @now
  WHERE ${mayEnter('@key', '@slot::bigint')}
  ON CONFLICT (tenant, owner_kind, owner_id) DO NOTHING`;

const LATER_LANES = `state <> 'idle' AND due_at > @now`;

/** Lanes that took messages from a clock that was ahead. */
const LANES_AHEAD = `${LATER_LANES} AND state = 'waiting' AND newest_at > @ahead`;

const HASTEN_LANES = `
  UPDATE lanes SET due_at = @now,
    newest_at = CASE WHEN newest_at > @now THEN @now ELSE newest_at END,
    oldest_at = CASE WHEN oldest_at > @now THEN @now ELSE oldest_at END`;

/** What else waits for a time: all of it will be retried when it is due, so that too early costs a try and loses nothing. */
const HASTEN_OTHERS: readonly string[] = [
  `UPDATE graph_studies SET not_before = @now WHERE state = 'pending' AND not_before > @now`,
  'UPDATE graph_turns SET held_until = @now WHERE held_until > @now',
  'UPDATE sleeps SET held_until = least(held_until, @now), not_before = least(not_before, @now)',
  `UPDATE webhook_deliveries SET due_at = @now WHERE state = 'waiting' AND due_at > @now`,
  'UPDATE webhooks SET held_until = least(held_until, @now)',
  'UPDATE canaries SET due_at = @now WHERE due_at > @now',
  // The space of one that is over waits to be thrown away, and for that it is too early.
  `UPDATE replays SET due_at = @now WHERE state NOT IN ('done', 'failed') AND due_at > @now`,
  'UPDATE unprojected_lanes SET not_before = @now WHERE not_before > @now',
  'UPDATE bulk_jobs SET due_at = @now WHERE due_at > @now',
  `UPDATE meta SET value = @shown WHERE key = 'clock_seen'`,
];
