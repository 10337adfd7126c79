import { isDeepStrictEqual } from 'node:util';
import type { Departed, Departure, DepartureStore, Millis, NewDeparture, OwnerHere } from '@slowwave/engine';
import { isStill, ofNoSpace } from '@slowwave/engine/storing';
import {
  awayKeyOf,
  awayOf,
  closedSlots,
  closeSlots,
  forgetAway,
  givenUpAt,
  giveUp,
  type OwnedBy,
  selectAway,
  takenElsewhere,
} from './away.ts';
import { stampOf } from './bundle/read.ts';
import { cutOff } from './erasures.ts';
import type { LaneRow } from './lane-life.ts';
import { laneOfOwner, lockOwner } from './lanes.ts';
import { LANE_NUMBER } from './page.ts';
import { forgetTopics } from './reviews.ts';
import { type OwnerColumns, ownerFrom } from './rows/columns.ts';
import {
  allAs,
  audit,
  counted,
  first,
  idsOf,
  lookup,
  read,
  run,
  type Script,
  snapshot,
  storeOf,
  write,
} from './script.ts';

export const departureStore = storeOf<DepartureStore>('departures', {
  stamp: snapshot(function* (tenant, owner) {
    const lane = yield* laneOfOwner({ tenant, owner });
    return lane === null ? null : yield* stampOf(lane, true);
  }),
  leave: write(function* (tenant, owner, { until, now }) {
    const lane = yield* lockOwner({ tenant, owner });
    if (lane === null) return null;
    if (lane.erasure !== null) return ['the owner sleeps; retry when it is awake'];
    yield* run('UPDATE lanes SET leaving_until = @until WHERE id = @lane', { lane: lane.id, until });
    return [...(yield* waitsOf(lane)), ...(yield* workOf(lane, now))];
  }),
  depart: write((tenant, owner, departure) => depart({ tenant, owner }, departure)),
  whereIs: lookup(function* (tenant, owner, bits) {
    const away = yield* awayOf({ tenant, owner });
    if (away !== null) return away.to;
    if ((yield* laneOfOwner({ tenant, owner })) !== null) return null;
    return yield* takenElsewhere(bits);
  }),
  find: lookup((tenant, owner) => awayOf({ tenant, owner })),
  withBits: lookup((tenant, bits) => selectAway('a.tenant = @tenant AND a.bits = @bits', { tenant, bits })),
  count: audit(() => counted('SELECT count(*) AS count FROM away', {})),
  forget: write((tenant, owner) => forgetAway({ tenant, owner })),
  drop: write((now, limit) => run(DROP, { now, limit })),
  owners: read((after, limit) => allAs(ownerHereFrom, SELECT_OWNERS, { after: after ?? '', limit })),
  sizes: audit(function* () {
    const sum = (name: string) => counted(COUNT_ALL, { name });
    return { owners: yield* sum('owners'), memories: yield* sum('memories') };
  }),
  slots: read(closedSlots),
  closeSlots: write(closeSlots),
  forgetCell: write((cell) => run('DELETE FROM away WHERE cell = @cell', { cell })),
  giveUp: write(giveUp),
  givenUpAt: lookup(givenUpAt),
});

const COUNT_ALL = `
  SELECT coalesce(sum(value), 0)::bigint AS count FROM counters WHERE name = @name AND ${ofNoSpace('tenant')}`;

const SELECT_OWNERS = `
  SELECT id AS lane, tenant, owner_kind, owner_id FROM lanes
  WHERE (erasure IS NULL OR cold IS NOT NULL) AND id > @after AND ${ofNoSpace('tenant')} ORDER BY id LIMIT @limit`;

const ownerHereFrom = (row: OwnerColumns & Pick<OwnerHere, 'lane' | 'tenant'>): OwnerHere => ({
  lane: row.lane,
  tenant: row.tenant,
  owner: ownerFrom(row),
});

function* depart(of: OwnedBy, departure: NewDeparture): Script<Departed> {
  const { tenant, owner } = of;
  const { id, to, stamp, ownerHash, bits, until, now } = departure;
  const lane = yield* lockOwner(of);
  if (lane === null) return before(yield* awayOf(of), to);
  if (lane.cold !== null) return { kind: 'busy', waitsFor: ['the owner sleeps; wake it, and read its lines again'] };
  // One that sleeps was awake when its lines were read.
  if (lane.erasure !== null || !isStill(stamp, yield* stampOf(lane, true))) return { kind: 'changed' };
  const waitsFor = yield* waitsOf(lane);
  if (waitsFor.length > 0) return { kind: 'busy', waitsFor };
  yield* forgetTopics({ tenant, ownerHash, agentId: owner.kind === 'agent' ? owner.id : null }, now);
  const whose = { tenant, ownerKind: owner.kind, ownerId: owner.id };
  const key = awayKeyOf(of);
  yield* run(INSERT_AWAY, { ...to, tenant, key, bits, now, until });
  yield* run(INSERT_REMOVAL, { ...whose, id, lane: lane.id, now });
  yield* cutOff(lane.id, id);
  return { kind: 'departed', key, tenant, to, departedAt: now, until };
}

function before(departure: Departure | null, to: NewDeparture['to']): Departed {
  if (departure === null) return { kind: 'gone' };
  return { kind: isDeepStrictEqual(departure.to, to) ? 'departed' : 'elsewhere', ...departure };
}

const INSERT_AWAY = `
  INSERT INTO away (key, tenant, bits, cell, epoch, departed_at, until)
  VALUES (@key, @tenant, @bits, @cell, @epoch, @now, @until)`;

/** No digest of the owner: nobody takes it for erased. */
const INSERT_REMOVAL = `
  INSERT INTO erasures (id, tenant, owner_kind, owner_id, owner_hash, lane, state, counts, remains, requested_at, departed)
  VALUES (@id, @tenant, @ownerKind, @ownerId, @id, @lane, 'requested', '{}', '[]', @now, 'going')`;

const DROP = `
  DELETE FROM away WHERE key IN (
    SELECT key FROM away WHERE until <= @now ORDER BY until LIMIT @limit)`;

/** What is under way that an owner cannot take along. */
function* waitsOf(lane: LaneRow): Script<readonly string[]> {
  const given = { lane: lane.id, tenant: lane.tenant };
  const replays = yield* idsOf(SELECT_REPLAYS, given);
  const canaries = yield* idsOf(SELECT_CANARIES, given);
  const jobs = yield* idsOf(SELECT_JOBS, given);
  return [
    ...replays.map((id) => `the replay ${id} uses batches of this owner; wait until it ends, or delete it`),
    ...canaries.map((id) => `the canary ${id} has changed this owner; promote or undo it, or wait until it ends`),
    ...jobs.map(
      (id) => `the bulk job ${id} has questions of this owner at the model provider; wait until they are answered`,
    ),
  ];
}

/** What began before: cut off, it would be asked of a model again elsewhere. */
function* workOf({ id, number, due_at }: LaneRow, now: Millis): Script<readonly string[]> {
  const isClaimed = (due_at ?? 0) <= now && (yield* first(SELECT_CLAIMED, { number, since: now - TURN_MS })) !== null;
  const held = yield* idsOf(SELECT_HELD, { lane: id, now });
  return [...(isClaimed ? ['a consolidation'] : []), ...held].map(
    (what) => `${what} of this owner is in progress; retry in a moment`,
  );
}

/** Longer than a turn usually takes. One that takes longer is cut off. */
const TURN_MS = 60_000;

const SELECT_CLAIMED = `
  SELECT 1 AS found FROM batches WHERE lane = @number AND state = 'consolidating' AND claimed_at > @since LIMIT 1`;

const SELECT_HELD = `
  SELECT 'a study' AS id FROM graph_turns WHERE lane = @lane AND held IS NOT NULL AND held_until > @now
  UNION ALL SELECT 'a night' FROM sleeps WHERE lane = @lane AND held IS NOT NULL AND held_until > @now`;

const SELECT_REPLAYS = `
  SELECT DISTINCT r.id FROM batches b JOIN replay_batches x ON x.batch_id = b.id JOIN replays r ON r.id = x.replay_id
  WHERE b.lane = ${LANE_NUMBER} AND r.state IN ('preparing', 'running') ORDER BY r.id`;

/** One that is not over can still be taken back, and then all that it consolidated is. */
const SELECT_CANARIES = `
  SELECT c.id FROM canaries c
  WHERE c.tenant = @tenant AND c.finished_at IS NULL
    AND EXISTS (SELECT 1 FROM consolidations x WHERE x.variant = c.id AND x.lane = ${LANE_NUMBER}) ORDER BY c.id`;

const SELECT_JOBS = `
  SELECT DISTINCT job AS id FROM bulk_questions WHERE lane = @lane AND job IS NOT NULL AND state = 'open' ORDER BY job`;
