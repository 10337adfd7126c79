import type {
  Canary,
  CanaryLane,
  CanaryMove,
  CanaryNews,
  CanaryStore,
  LaneId,
  Millis,
  Spent,
  TenantId,
  WatchedConsolidation,
} from '@slowwave/engine';
import { addSpent, canaryNotice, NOTHING_SPENT, OPEN_CANARY_STATES } from '@slowwave/engine/storing';
import { waitAgain } from './batches.ts';
import { foldThoughts } from './kept-thoughts.ts';
import { type LaneRow, raise, unpin } from './lane-life.ts';
import {
  consolidationIdOf,
  consolidationNumber,
  inConsolidations,
  LANE_NUMBER,
  type Listing,
  laneIdOf,
  newestFirst,
} from './page.ts';
import { type ColumnsOf, jsonOf } from './rows/columns.ts';
import {
  type Access,
  all,
  allAs,
  counted,
  few,
  first,
  firstAs,
  idsOf,
  read,
  run,
  type Script,
  snapshot,
  storeOf,
  write,
} from './script.ts';
import { lockLane, recounted, saveLane } from './turn.ts';
import { writeUndo } from './undos.ts';
import { activeWebhooks, noteDeliveries } from './webhooks.ts';

export function canaryStore(access: Access): CanaryStore {
  const { isDue, ...store } = scripted(access);
  return {
    ...store,
    // Each worker asks each second: where nothing is due nothing is written.
    take: async (now, until) => ((await isDue(now)) ? store.take(now, until) : null),
  };
}

interface Scripts extends CanaryStore {
  isDue(now: Millis): Promise<boolean>;
}

const scripted = storeOf<Scripts>('canaries', {
  create: write(function* ({ changes, steps, bounds, budget, ...canary }) {
    const json = { changes, steps, bounds, budget };
    return (yield* run(INSERT_CANARY, { ...canary, ...textsOf(json) })) > 0;
  }),
  get: read((tenant, id) =>
    firstAs(canaryFrom, 'SELECT * FROM canaries WHERE tenant = @tenant AND id = @id', { tenant, id }),
  ),
  list: read((tenant, page) => newestFirst(CANARIES, page, { tenant })),
  take: write((now, until) => firstAs(canaryFrom, TAKE_DUE, { now, until })),
  isDue: few(function* (now) {
    return (yield* first('SELECT 1 AS found FROM canaries WHERE due_at <= @now LIMIT 1', { now })) !== null;
  }),
  move: write(function* (id, move, news) {
    const row = yield* first<CanaryRow>('SELECT * FROM canaries WHERE id = @id FOR UPDATE', { id });
    if (row === null || row.state !== move.from || !(yield* mayBeOpen(row, move))) return false;
    yield* run(MOVE, { id, ...moveColumns(move) });
    if (news !== undefined) yield* tell(row.tenant, id, news);
    return true;
  }),
  watched: read((tenant, canary, how) =>
    allAs(watchedFrom, canary === null ? SELECT_REST : SELECT_VARIANT, { tenant, canary, ...how }),
  ),
  stuck: read(function* (tenant, canary, before) {
    const row = yield* first<{ canary: number; rest: number }>(COUNT_STUCK, { tenant, canary, before });
    return { canary: row?.canary ?? 0, rest: row?.rest ?? 0 };
  }),
  appliedSince: read((canary, since) => counted(COUNT_APPLIED, { canary, since })),
  reach: read(function* (tenant, canary) {
    const owners = 'SELECT count(*) AS count FROM lanes WHERE tenant = @tenant AND erasure IS NULL';
    const touched = 'SELECT count(DISTINCT lane) AS count FROM consolidations WHERE variant = @canary';
    return { owners: yield* counted(owners, { tenant }), touched: yield* counted(touched, { canary }) };
  }),
  counts: read(function* () {
    const rows = yield* all<{ state: Canary['state']; count: number }>(
      'SELECT state, count(*) AS count FROM canaries WHERE finished_at IS NULL GROUP BY state',
    );
    const held = yield* counted('SELECT count(*) AS count FROM lanes WHERE held IS NOT NULL');
    return { open: Object.fromEntries(rows.map(({ state, count }) => [state, count])), held };
  }),
  touched: read((canary, { after, limit }) => {
    const text = `SELECT l.id FROM lanes l
      WHERE l.number IN FEW (SELECT lane FROM consolidations WHERE variant = @canary;) AND l.id > @after ORDER BY l.id LIMIT @limit`;
    return idsOf<LaneId>(text, { canary, after: after ?? '', limit });
  }),
  hold: write(function* (canary, { pinned, limit, now }) {
    const lanes = yield* allAs(({ lane }: { lane: LaneId }) => lane, pinned ? SELECT_PINNED : SELECT_TOUCHED, {
      canary,
      limit,
    });
    for (const id of lanes) yield* holdLane(canary, id, now);
    return lanes;
  }),
  letGo: write(function* (canary, id, { state, now }) {
    const lane = yield* lockLane(id);
    if (lane === null || lane.held !== canary) return null;
    yield* run('UPDATE lanes SET held = NULL WHERE id = @id', { id });
    yield* run(state === null ? LEAVE_UNDO : GO_ON, { canary, id, ...(state !== null && { state }) });
    if (lane.state === 'idle') return null;
    const { lane: raised, nudge } = raise({ ...lane, due_at: Math.min(lane.due_at ?? now, now) });
    yield* saveLane(raised);
    return nudge;
  }),
  lanes: read((canary, { state, after, limit }) => {
    const text = `SELECT * FROM canary_lanes WHERE canary = @canary AND lane > @after
      ${state === undefined ? '' : 'AND state = @state'} ORDER BY lane LIMIT @limit`;
    return allAs(canaryLaneFrom, text, { canary, after: after ?? '', limit, ...(state !== undefined && { state }) });
  }),
  work: snapshot(function* (canary, lane, limit) {
    const since = yield* first<{ at: number | null }>(SELECT_FIRST, { canary, lane });
    if (since === null || since.at === null) return { consolidations: [], parked: [] };
    const rows = yield* all<{ id: string; batch_ids: string }>(SELECT_SINCE, { lane, since: since.at, limit });
    const parked = yield* idsOf(SELECT_PARKED, { canary, lane });
    return { consolidations: rows.map((row) => ({ id: row.id, batchIds: JSON.parse(row.batch_ids) })), parked };
  }),
  takeBack: write(function* (canary, undoing, expected) {
    const { tenant, lane, at: now } = undoing.undo;
    const row = yield* lockLane(lane);
    if (row === null || row.held !== canary) return { kind: 'conflict' };
    const written = yield* writeUndo(tenant, undoing);
    if (written.kind === 'conflict') return written;
    const batches = yield* idsOf(`SELECT id FROM batches WHERE ${inConsolidations('consolidation', 'ids')}`, {
      ids: undoing.undone,
    });
    const { replayed } = yield* waitAgain(tenant, batches, { now });
    const more = { consolidations: undoing.undone.length, replayed, expected };
    yield* note(canary, lane, more);
    return written;
  }),
  replay: write(function* (canary, lane, { batchIds, now }) {
    const row = yield* lockLane(lane);
    if (row === null || row.held !== canary) return;
    yield* keepParked(lane, batchIds);
    const { replayed } = yield* waitAgain(row.tenant, batchIds, { now });
    yield* note(canary, lane, { consolidations: 0, replayed, expected: NOTHING_SPENT });
  }),
  again: read(function* (canary, lane) {
    const rows = yield* all<{ consolidation_id: string | null; is_open: 0 | 1 }>(SELECT_AGAIN, { canary, lane });
    const ids = new Set(rows.flatMap((row) => row.consolidation_id ?? []));
    return { open: rows.filter(({ is_open }) => is_open === 1).length, consolidations: [...ids] };
  }),
  mark: write(function* (canary, lane, { state, used }) {
    const text = 'UPDATE canary_lanes SET state = @state, used = @used::jsonb WHERE canary = @canary AND lane = @lane';
    yield* run(text, { canary, lane, state, used: JSON.stringify(used) });
  }),
});

const LEAVE_UNDO = 'DELETE FROM canary_lanes WHERE canary = @canary AND lane = @id';
const GO_ON = 'UPDATE canary_lanes SET state = @state WHERE canary = @canary AND lane = @id';

const INSERT_CANARY = `
  INSERT INTO canaries (id, tenant, state, changes, steps, step, step_at, bounds, undo, budget, due_at, created_at)
  VALUES (@id, @tenant, 'running', @changes::jsonb, @steps::jsonb, 0, @createdAt, @bounds::jsonb, @undo, @budget::jsonb,
    @createdAt, @createdAt)
  ON CONFLICT (tenant) WHERE finished_at IS NULL DO NOTHING`;

const TAKE_DUE = `
  UPDATE canaries SET due_at = @until WHERE id = (
    SELECT id FROM canaries WHERE due_at <= @now ORDER BY due_at LIMIT 1 FOR UPDATE SKIP LOCKED
  ) RETURNING *`;

/** One that was over may have been followed by another. */
function* mayBeOpen({ id, tenant, finished_at }: CanaryRow, { to }: CanaryMove): Script<boolean> {
  if (finished_at === null || !OPEN_CANARY_STATES.includes(to)) return true;
  const text = 'SELECT 1 AS found FROM canaries WHERE tenant = @tenant AND finished_at IS NULL AND +id <> @id';
  return (yield* first(text, { tenant, id })) === null;
}

const MOVE = `
  UPDATE canaries SET state = @to, due_at = @dueAt, step = coalesce(@step, step), step_at = coalesce(@stepAt, step_at),
    budget = coalesce(@budget::jsonb, budget), watched = coalesce(@watched::jsonb, watched),
    halt = coalesce(@halt::jsonb, halt),
    waiting = CASE WHEN @setsWaiting = 1 THEN @waiting::jsonb ELSE waiting END,
    finished_at = CASE WHEN @setsEnd = 1 THEN @finishedAt ELSE finished_at END
  WHERE id = @id`;

const moveColumns = (move: CanaryMove) => ({
  to: move.to,
  dueAt: move.dueAt,
  step: move.step?.number ?? null,
  stepAt: move.step?.at ?? null,
  budget: jsonOf(move.budget),
  watched: jsonOf(move.watched),
  halt: jsonOf(move.halt),
  setsWaiting: move.waiting === undefined ? 0 : 1,
  waiting: jsonOf(move.waiting),
  setsEnd: move.finishedAt === undefined ? 0 : 1,
  finishedAt: move.finishedAt ?? null,
});

const textsOf = <Name extends string>(values: Readonly<Record<Name, object>>) =>
  Object.fromEntries(Object.entries(values).map(([name, value]) => [name, JSON.stringify(value)])) as Record<
    Name,
    string
  >;

function* tell(tenant: TenantId, id: string, news: CanaryNews): Script<void> {
  yield* noteDeliveries(yield* activeWebhooks(tenant), [canaryNotice(id, news)]);
}

/** A canary as it is stored. */
type CanaryRow = ColumnsOf<Canary, 'changes' | 'steps' | 'bounds' | 'budget' | 'watched' | 'halt' | 'waiting'>;

const canaryFrom = (row: CanaryRow): Canary => ({
  id: row.id,
  tenant: row.tenant,
  state: row.state,
  changes: JSON.parse(row.changes),
  steps: JSON.parse(row.steps),
  step: row.step,
  stepAt: row.step_at,
  bounds: JSON.parse(row.bounds),
  undo: row.undo,
  budget: JSON.parse(row.budget),
  watched: row.watched === null ? null : JSON.parse(row.watched),
  halt: row.halt === null ? null : JSON.parse(row.halt),
  waiting: row.waiting === null ? null : JSON.parse(row.waiting),
  createdAt: row.created_at,
  finishedAt: row.finished_at,
});

const CANARIES: Listing<CanaryRow, Canary> = {
  select: 'SELECT * FROM canaries',
  by: ['created_at', 'id'],
  asked: { tenant: 'tenant = @tenant' },
  make: canaryFrom,
};

const WATCHED = `
  SELECT c.id, ${laneIdOf('c.lane')} AS lane, c.batch_ids FROM consolidations c`;
const ENDED = `c.state IN ('applied', 'parked', 'undone')`;

/** The few of the canary, and the newest of the rest. */
const SELECT_VARIANT = `
  ${WATCHED} WHERE c.variant = @canary AND c.created_at >= @since AND c.created_at < @until AND ${ENDED}
  ORDER BY c.created_at DESC, c.id DESC LIMIT @limit`;
const SELECT_REST = `
  ${WATCHED} WHERE c.tenant = @tenant AND c.variant IS NULL AND c.created_at >= @since AND c.created_at < @until AND ${ENDED}
  ORDER BY c.created_at DESC, c.id DESC LIMIT @limit`;

const COUNT_APPLIED = `
  SELECT count(*) AS count FROM consolidations
  WHERE variant = @canary AND created_at >= @since AND applied_at IS NOT NULL`;

const COUNT_STUCK = `
  SELECT count(*) FILTER (WHERE variant = @canary) AS canary, count(*) FILTER (WHERE variant IS NULL) AS rest
  FROM consolidations
  WHERE tenant = @tenant AND state IN ('thinking', 'planned', 'waiting') AND state <> 'applied' AND created_at < @before`;

interface WatchedRow {
  readonly id: string;
  readonly lane: LaneId;
  readonly batch_ids: string;
}

const watchedFrom = (row: WatchedRow): WatchedConsolidation => ({
  id: row.id,
  lane: row.lane,
  batchIds: JSON.parse(row.batch_ids),
});

const SELECT_TOUCHED = `
  SELECT DISTINCT l.id AS lane FROM consolidations c JOIN lanes l ON l.number = c.lane
  WHERE c.variant = @canary AND c.state NOT IN ('split', 'undone') AND l.erasure IS NULL
    AND NOT EXISTS (SELECT 1 FROM canary_lanes x WHERE x.canary = @canary AND x.lane = l.id)
  ORDER BY l.id LIMIT @limit`;

const SELECT_PINNED = `
  SELECT DISTINCT l.id AS lane FROM consolidations c JOIN lanes l ON l.number = c.lane
  WHERE c.variant = @canary AND c.state IN ('thinking', 'planned', 'waiting') AND l.erasure IS NULL
  ORDER BY l.id LIMIT @limit`;

function* holdLane(canary: string, id: LaneId, now: number): Script<void> {
  const lane = yield* lockLane(id);
  if (lane === null || lane.erasure !== null) return;
  yield* run('UPDATE lanes SET held = @canary WHERE id = @id', { id, canary });
  yield* run(INSERT_LANE, { canary, id, nothing: JSON.stringify(NOTHING_SPENT) });
  if (lane.consolidation_id !== null) yield* unpinWindow(lane, lane.consolidation_id, now);
}

const INSERT_LANE = `
  INSERT INTO canary_lanes (canary, lane, state, consolidations, batches, through, expected, used)
  VALUES (@canary, @id, 'held', 0, 0, 0, @nothing::jsonb, @nothing::jsonb)
  ON CONFLICT (canary, lane) DO NOTHING`;

/** What was answered to it is kept for the consolidation that follows, as that of an undone one. */
function* unpinWindow(lane: LaneRow, id: string, now: number): Script<void> {
  const pinned = yield* all<{ id: string; position: number; formers: string }>(
    `SELECT id, position, formers FROM batches WHERE consolidation = ${consolidationNumber('@id')}`,
    { id },
  );
  const rows = pinned.map((batch) => ({
    id: batch.id,
    formers: JSON.stringify([...JSON.parse(batch.formers), id]),
  }));
  yield* run(UNPIN, { rows });
  yield* run("UPDATE consolidations SET state = 'split' WHERE id = @id", { id });
  yield* foldThoughts([id]);
  const through = Math.max(0, ...pinned.map(({ position }) => position));
  yield* saveLane(unpin(yield* recounted(lane), { through, now }));
}

const UNPIN = `
  UPDATE batches SET state = 'pending', stage = 'waiting', claimed_at = NULL, consolidation = NULL,
    formers = n.formers::jsonb
  FROM (SELECT value ->> 'id' AS id, value ->> 'formers' AS formers FROM :rows AS r) AS n
  WHERE batches.id = n.id`;

/** What was parked together is consolidated together again, as what was undone is. */
function* keepParked(lane: LaneId, ids: readonly string[]): Script<void> {
  const parked = yield* all<{ id: string; consolidation: string; formers: string }>(SELECT_PARKED_OF, { lane, ids });
  const rows = parked.map(({ id, consolidation, formers }) => ({
    id,
    formers: JSON.stringify([...JSON.parse(formers), consolidation]),
  }));
  yield* run(KEEP_FORMERS, { rows });
}

const SELECT_PARKED_OF = `
  SELECT id, ${consolidationIdOf('batches.consolidation')} AS consolidation, formers FROM batches
  WHERE id IN :ids AND lane + 0 = ${LANE_NUMBER} AND +state = 'parked' AND stripped_at IS NULL AND batches.consolidation IS NOT NULL`;

const KEEP_FORMERS = `
  UPDATE batches SET formers = n.formers::jsonb
  FROM (SELECT value ->> 'id' AS id, value ->> 'formers' AS formers FROM :rows AS r) AS n
  WHERE batches.id = n.id`;

/** Since when the canary's changes were used in a lane, as far as that is not undone. */
const SELECT_FIRST = `
  SELECT min(created_at) AS at FROM consolidations
  WHERE variant = @canary AND lane = ${LANE_NUMBER} AND state IN ('applied', 'parked')`;

const SELECT_SINCE = `
  SELECT id, batch_ids FROM consolidations
  WHERE lane = ${LANE_NUMBER} AND state = 'applied' AND created_at >= @since ORDER BY created_at DESC, id DESC LIMIT @limit`;

const SELECT_PARKED = `
  SELECT b.id FROM consolidations c JOIN batches b ON b.consolidation = c.number
  WHERE c.variant = @canary AND c.lane = ${LANE_NUMBER} AND c.state = 'parked' AND b.state = 'parked' ORDER BY b.position`;

interface More {
  readonly consolidations: number;
  readonly replayed: readonly string[];
  readonly expected: Spent;
}

/** Adds to what was undone in a lane. */
function* note(canary: string, lane: LaneId, { consolidations, replayed, expected }: More): Script<void> {
  const row = yield* first<LaneNoteRow>('SELECT * FROM canary_lanes WHERE canary = @canary AND lane = @lane', {
    canary,
    lane,
  });
  const last = yield* first<{ position: number | null }>(
    'SELECT max(position) AS position FROM batches WHERE id IN :ids',
    { ids: replayed },
  );
  if (row === null) return;
  const through = Math.max(row.through, last?.position ?? 0);
  yield* run('UPDATE lanes SET kept_windows = @through WHERE id = @lane', { lane, through });
  yield* run(ADD_TO_LANE, {
    canary,
    lane,
    consolidations,
    batches: replayed.length,
    through,
    expected: JSON.stringify(addSpent(JSON.parse(row.expected), expected)),
  });
}

const ADD_TO_LANE = `
  UPDATE canary_lanes SET consolidations = consolidations + @consolidations, batches = batches + @batches,
    through = @through, expected = @expected::jsonb
  WHERE canary = @canary AND lane = @lane`;

interface LaneNoteRow extends ColumnsOf<CanaryLane, 'expected' | 'used'> {
  readonly through: number;
}

const canaryLaneFrom = (row: LaneNoteRow): CanaryLane => ({
  lane: row.lane,
  state: row.state,
  consolidations: row.consolidations,
  batches: row.batches,
  expected: JSON.parse(row.expected),
  used: JSON.parse(row.used),
});

/** The batches that wait again are those of the lane up to a position that were of an undone consolidation before. */
const SELECT_AGAIN = `
  SELECT ${consolidationIdOf('b.consolidation')} AS consolidation_id, CASE WHEN b.state IN ('pending', 'consolidating') THEN 1 ELSE 0 END AS is_open
  FROM canary_lanes x JOIN lanes l ON l.id = x.lane JOIN batches b ON b.lane = l.number
  WHERE x.canary = @canary AND x.lane = @lane AND b.position <= x.through
    AND EXISTS (
      SELECT 1 FROM jsonb_array_elements_text(b.formers) AS f JOIN consolidations c ON c.id = f.value
      WHERE c.created_at >= (SELECT k.created_at FROM canaries k WHERE k.id = @canary))`;
