import type {
  BatchPoints,
  ColdStore,
  LaneId,
  Millis,
  NewSegment,
  Oldest,
  OwnerBits,
  Segment,
  StandingOwner,
} from '@slowwave/engine';
import { EngineError, FIRST_SUM, ofNoSpace } from '@slowwave/engine/storing';
import { take } from './bundle/bundles.ts';
import { KINDS } from './bundle/kinds.ts';
import { stampOf } from './bundle/read.ts';
import { countErased, ERASING } from './erasures.ts';
import type { LaneRow } from './lane-life.ts';
import { reproject } from './outbox.ts';
import { LANE_NUMBER } from './page.ts';
import { type OwnerColumns, ownerFrom } from './rows/columns.ts';
import {
  all,
  allAs,
  audit,
  first,
  firstAs,
  idsOf,
  lookup,
  read,
  run,
  type Script,
  snapshot,
  storeOf,
  update,
  write,
} from './script.ts';
import { lockLane, recounted, saveLane } from './turn.ts';
import { count } from './usage.ts';

export const coldStore = storeOf<ColdStore>('cold', {
  // It may look at all owners before it finds one.
  idle: audit((before, after, limit) =>
    allAs(
      ({ id, tenant, ...row }: Pick<LaneRow, 'id' | 'tenant'> & OwnerColumns) => ({
        ...{ lane: id, tenant, owner: ownerFrom(row) },
      }),
      SELECT_IDLE,
      { before, after: after ?? '', limit },
    ),
  ),
  standing: snapshot(function* (id) {
    const lane = yield* first<LaneRow>('SELECT * FROM lanes WHERE id = @id', { id });
    return lane === null || !(yield* isAtRest(lane)) ? null : yield* standing(lane);
  }),
  note: write(function* (segment, now) {
    const { name, tenant, lane, bits, lines, lastSum, memories, oldest } = segment;
    const given = { name, tenant, lane, bits, lines, lastSum, memories, oldest: JSON.stringify(oldest), now };
    yield* run(INSERT_SEGMENT, given);
  }),
  cool: write(function* (name, { stamp, bytes, now }) {
    const segment = yield* lockSegment(name);
    if (segment?.state !== 'written') return segment?.state === 'cooling';
    const lane = yield* lockLane(segment.lane);
    if (lane === null || !(yield* isAtRest(lane)) || (yield* stampOf(lane, false)) !== stamp) return false;
    // As an erasure cuts a lane off, but for the name of its owner: claims, turns and writers no longer get hold of it.
    const cutOff = 'cold = @name, erasure = @name, epoch = epoch + 1, generation = generation + 1';
    yield* run(`UPDATE lanes SET ${cutOff} WHERE id = @lane`, { lane: lane.id, name });
    yield* run('UPDATE segments SET bytes = @bytes WHERE name = @name', { name, bytes });
    yield* enter(name, 'cooling', now);
    return true;
  }),
  slice: write(function* (name, limit, now) {
    const segment = yield* lockSegment(name);
    if (segment?.state !== 'cooling') return { more: false };
    const { lane, tenant } = segment;
    if ((yield* asleep(name, segment)) === null) return { more: false };
    for (const { pick, deletes } of COOLING) {
      const ids = yield* idsOf(pick, { lane, limit });
      if (ids.length === 0) continue;
      for (const [table, condition] of deletes) {
        const gone = yield* run(`DELETE FROM ${table} WHERE ${condition}`, { lane, ids });
        // They are counted again when they come back.
        if (table === 'batches') yield* count([{ tenant, name: 'accepted', value: -gone }]);
      }
      return { more: true };
    }
    yield* enter(name, 'cold', now);
    return { more: false };
  }),
  wake: write(beginToWake),
  woken: write(endToWake),
  restore: write(function* (name, { lines, told, now }) {
    const begun = yield* beginToWake(name, now);
    if (begun === null || begun.taken > 0 || begun.lines !== lines.length) return 'not_begun';
    const taken = yield* take(name, 0, lines);
    // What was begun is not kept: whoever takes the lines one after the other says which of them it is.
    if (taken.kind !== 'taken') throw new EngineError(`the lines of ${name} cannot be stored`, UNREADABLE);
    return (yield* endToWake(name, { told, now })) ? 'woken' : 'not_begun';
  }),
  get: lookup((name) => firstAs(segmentFrom, `${SELECT_SEGMENTS} WHERE s.name = @name`, { name })),
  ofBits: lookup((tenant, bits) =>
    allAs(
      segmentFrom,
      `${SELECT_SEGMENTS} WHERE s.bits = @bits AND ${ASLEEP} AND +s.tenant = @tenant ORDER BY s.name`,
      {
        ...{ tenant, bits },
      },
    ),
  ),
  list: read((tenant, after, limit) =>
    allAs(
      segmentFrom,
      `${SELECT_SEGMENTS} WHERE ${tenant === null ? '' : 's.tenant = @tenant AND '}${ASLEEP} AND s.name > @after ORDER BY s.name LIMIT @limit`,
      { ...(tenant !== null && { tenant }), after: after ?? '', limit },
    ),
  ),
  since: read((state, before, limit) =>
    allAs(
      segmentFrom,
      `${SELECT_SEGMENTS} WHERE s.state = @state AND s.since <= @before ORDER BY s.since, s.name LIMIT @limit`,
      {
        ...{ state, before, limit },
      },
    ),
  ),
  ofLane: read(function* (lane) {
    const rows = yield* all<{ name: string }>('SELECT name FROM segments WHERE lane = @lane ORDER BY name', { lane });
    return rows.map(({ name }) => name);
  }),
  names: read((after, limit) =>
    all('SELECT name, state, tenant FROM segments WHERE name > @after ORDER BY name LIMIT @limit', {
      ...{ after: after ?? '', limit },
    }),
  ),
  drop: write(function* (name, now) {
    yield* run(`UPDATE segments SET state = 'dropped', since = @now WHERE name = @name AND state = 'written'`, {
      name,
      now,
    });
  }),
  forget: write(function* (name, erasure) {
    const gone = yield* run('DELETE FROM segments WHERE name = @name', { name });
    if (erasure !== null && gone > 0) yield* countErased(erasure, { segments: gone });
  }),
  count: read(function* () {
    const text = `
      SELECT count(*) AS owners, coalesce(sum(s.bytes), 0)::bigint AS bytes, count(*) FILTER (WHERE s.state <> 'cold') AS moving
      FROM segments s WHERE ${ASLEEP}`;
    return (
      (yield* first<{ owners: number; bytes: number; moving: number }>(text)) ?? { owners: 0, bytes: 0, moving: 0 }
    );
  }),
});

const UNREADABLE = { code: 'segment_unavailable', retryable: false } as const;

function* beginToWake(name: string, now: Millis): Script<{ readonly taken: number; readonly lines: number } | null> {
  const segment = yield* lockSegment(name);
  if (segment === null || (yield* asleep(name, segment)) === null) return null;
  if (segment.state === 'cold') {
    yield* run(BEGIN, { name, sum: FIRST_SUM, now });
    yield* enter(name, 'waking', now);
    return { taken: 0, lines: segment.lines };
  }
  if (segment.state !== 'waking') return null;
  const taken = yield* first<{ taken: number }>('SELECT taken FROM imports WHERE id = @name', { name });
  return taken === null ? null : { ...taken, lines: segment.lines };
}

function* endToWake(
  name: string,
  { told, now }: { readonly told: readonly BatchPoints[] | null; readonly now: Millis },
): Script<boolean> {
  const segment = yield* lockSegment(name);
  const lane = segment?.state === 'waking' ? yield* asleep(name, segment) : null;
  if (lane === null) return false;
  const done = yield* run('DELETE FROM imports WHERE id = @name AND taken = lines AND sum = last_sum', { name });
  if (done === 0) return false;
  const up = 'UPDATE lanes SET cold = NULL, erasure = NULL, woken_at = @now WHERE id = @lane';
  yield* run(up, { lane: lane.id, now });
  yield* saveLane(yield* recounted(lane));
  if (told === null) yield* reproject(lane.id);
  else yield* noteTold(lane.id, told);
  yield* enter(name, 'dropped', now);
  return true;
}

const ASLEEP = "s.state IN ('cooling', 'cold', 'waking')";

/** What was written to a lane last; a search that told something is a sign of life, too. */
const SELECT_IDLE = `
  SELECT l.id, l.tenant, l.owner_kind, l.owner_id FROM lanes l
  WHERE l.id > @after AND l.updated_at < @before AND l.state = 'idle' AND l.erasure IS NULL AND l.held IS NULL
    AND coalesce(l.woken_at, 0) < @before AND ${ofNoSpace('l.tenant')}
    AND NOT EXISTS (SELECT 1 FROM memories m WHERE m.lane = l.number AND m.updated_at >= @before)
    AND NOT EXISTS (SELECT 1 FROM receipts r WHERE r.lane = l.id AND r.at >= @before)
  ORDER BY l.id LIMIT @limit`;

/** What would be missed, or never come to its end, while its owner sleeps: each of them finds a row. */
const UNFINISHED: readonly string[] = [
  'outbox WHERE lane = @lane',
  'bulk_questions q JOIN consolidations c ON c.id = q.consolidation_id WHERE q.lane = @lane',
  `batches WHERE lane = ${LANE_NUMBER} AND (state IN ('pending', 'consolidating', 'parked')
    OR (outcome IS NOT NULL AND projected_revision < speech_revision))`,
  'reviews WHERE lane = @lane AND settled_at IS NULL',
  "graph_studies WHERE lane = @lane AND state = 'pending'",
  'graph_entities WHERE lane = @lane AND unprojected_at IS NOT NULL',
  'graph_relations WHERE lane = @lane AND unprojected_at IS NOT NULL',
  "nights WHERE lane = @lane AND state IN ('thinking', 'waiting')",
  'canary_lanes WHERE lane = @lane',
  'unprojected_lanes WHERE lane = @lane',
];

/** What lines carry goes; the rest hangs on the lane alone, and stays with it. */
const CARRIED = new Set(['event_sources', 'unclaimed_messages', ...KINDS.map(({ table }) => table)]);
export const COOLING = ERASING.flatMap(({ pick, deletes }) => {
  const gone = deletes.filter(([table]) => CARRIED.has(table));
  return gone.length === 0 ? [] : [{ pick, deletes: gone }];
});

function* isAtRest(lane: LaneRow): Script<boolean> {
  if (lane.state !== 'idle' || lane.pending > 0 || lane.erasure !== null || lane.held !== null) return false;
  for (const from of UNFINISHED) {
    if ((yield* first(`SELECT 1 AS found FROM ${from} LIMIT 1`, { lane: lane.id })) !== null) return false;
  }
  return true;
}

function* standing(lane: LaneRow): Script<StandingOwner> {
  const { id, tenant } = lane;
  const oldest = yield* first<Oldest & { readonly live: number }>(SELECT_OLDEST, { lane: id });
  if (oldest === null) throw new Error('a sum always has one row');
  const { live, ...ages } = oldest;
  return { tenant, owner: ownerFrom(lane), lane: id, stamp: yield* stampOf(lane, false), memories: live, oldest: ages };
}

const SELECT_OLDEST = `
  SELECT
    (SELECT min(accepted_at) FROM batches WHERE lane = ${LANE_NUMBER} AND stripped_at IS NULL) AS messages,
    (SELECT min(created_at) FROM consolidations WHERE lane = ${LANE_NUMBER} AND stripped_at IS NULL) AS plans,
    (SELECT min(history_from) FROM memories WHERE lane = ${LANE_NUMBER}) AS history,
    (SELECT min(gone_since) FROM memories WHERE lane = ${LANE_NUMBER}) AS forgotten,
    (SELECT min(updated_at) FROM memories WHERE lane = ${LANE_NUMBER} AND live) AS memories,
    (SELECT count(*) FROM memories WHERE lane = ${LANE_NUMBER} AND live) AS live`;

const INSERT_SEGMENT = `
  INSERT INTO segments (name, tenant, lane, bits, state, lines, last_sum, bytes, memories, oldest, since)
  VALUES (@name, @tenant, @lane, @bits, 'written', @lines, @lastSum, 0, @memories, @oldest::jsonb, @now)`;

/** As lines of a bundle are taken, by `bundles.take`. */
const BEGIN = `
  INSERT INTO imports (id, tenant, lane, owner_kind, owner_id, owner_hashes, read_at, lines, last_sum, taken, sum, created_at)
  SELECT s.name, s.tenant, s.lane, l.owner_kind, l.owner_id, '[]', @now, s.lines, s.last_sum, 0, @sum, @now
  FROM segments s JOIN lanes l ON l.id = s.lane WHERE s.name = @name`;

const enter = (name: string, state: Segment['state'], now: Millis): Script<number> =>
  run('UPDATE segments SET state = @state, since = @now WHERE name = @name', { name, state, now });

/** The index has all of it again, as it was first written. */
function* noteTold(lane: LaneId, told: readonly BatchPoints[]): Script<void> {
  yield* update(
    'batches',
    told.map(({ id, points }) => ({ id, speech_revision: 1, projected_revision: 1, points })),
  );
  for (const table of ['graph_entities', 'graph_relations']) {
    yield* run(`UPDATE ${table} SET revision = 1 WHERE lane = @lane`, { lane });
  }
}

type SegmentRow = Pick<NewSegment, 'name' | 'tenant' | 'lane' | 'bits' | 'lines' | 'memories'> &
  Pick<Segment, 'bytes' | 'state' | 'since'> &
  OwnerColumns & { readonly last_sum: string; readonly oldest: string };

const SELECT_SEGMENTS = 'SELECT s.*, l.owner_kind, l.owner_id FROM segments s JOIN lanes l ON l.id = s.lane';

/** Before the lane, whoever locks both. */
const lockSegment = (name: string): Script<Pick<SegmentRow, 'state' | 'lane' | 'tenant' | 'lines'> | null> =>
  first('SELECT state, lane, tenant, lines FROM segments WHERE name = @name FOR NO KEY UPDATE', { name });

/** The lane of a segment, locked; null: its owner is awake, or is erased. */
function* asleep(name: string, { lane: id }: Pick<SegmentRow, 'lane'>): Script<LaneRow | null> {
  const lane = yield* lockLane(id);
  return lane?.cold === name && lane.erasure === name ? lane : null;
}

const segmentFrom = (row: SegmentRow): Segment => ({
  name: row.name,
  tenant: row.tenant,
  lane: row.lane,
  owner: ownerFrom(row),
  bits: row.bits as OwnerBits,
  state: row.state,
  lines: row.lines,
  lastSum: row.last_sum,
  bytes: row.bytes,
  memories: row.memories,
  oldest: JSON.parse(row.oldest),
  since: row.since,
});
