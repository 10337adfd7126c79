import type {
  Assessment,
  BatchState,
  LaneId,
  Millis,
  NewReplay,
  OwnerKind,
  Replay,
  ReplayFilter,
  ReplaySize,
  ReplayStep,
  ReplayStore,
  Suite,
  SuiteCase,
  SuiteStore,
  TenantId,
} from '@slowwave/engine';
import { type ReservedTokens, withoutOwner, withReservation } from '@slowwave/engine/storing';
import { waitAgain } from './batches.ts';
import { forgetInRuns, holdsAny, SELECT_SAYING } from './forgetting.ts';
import { AFTER_IN_LANE } from './memories.ts';
import { askedFor, LANE_NUMBER, type Listing, laneIdOf, laneOfUser, newestFirst, notBy, where } from './page.ts';
import { batchFrom, SELECT_BATCHES } from './rows/batch.ts';
import { type ColumnsOf, jsonOf } from './rows/columns.ts';
import { BY_NUMBER, type EventRow, eventFrom, loadMemories, SELECT_EVENTS } from './rows/memory.ts';
import {
  type Access,
  all,
  allAs,
  counted,
  few,
  first,
  firstAs,
  type Given,
  idsOf,
  insert,
  lookup,
  read,
  run,
  type Script,
  snapshot,
  statement,
  storeOf,
  together,
  write,
} from './script.ts';

export function replayStore(access: Access): ReplayStore {
  const { isDue, ...store } = scripted(access);
  return {
    ...store,
    // Each worker asks each second: where nothing is due nothing is written.
    take: async (now, until) => ((await isDue(now)) ? store.take(now, until) : null),
  };
}

interface Scripts extends ReplayStore {
  isDue(now: Millis): Promise<boolean>;
}

const scripted = storeOf<Scripts>('replays', {
  match: snapshot(function* (tenant, filter, limit) {
    const { conditions, given } = meantBy(tenant, filter);
    const [matched, batches] = yield* together(
      counted(`SELECT count(*) AS count FROM batches b ${where(conditions)}`, given),
      allAs(batchFrom, `${SELECT_BATCHES} ${where(conditions)} ${OLDEST_FIRST}`, { ...given, limit }),
    );
    return { matched, batches };
  }),
  size: read(function* (tenant, filter) {
    const { conditions, given } = meantBy(tenant, filter);
    const row = yield* first<ReplaySize>(`${SUM_BATCHES} ${where(conditions)}`, given);
    return row ?? { batches: 0, backfill: 0, tokens: 0, messages: 0, owners: 0 };
  }),
  create: write(function* (replay) {
    const { tenant, id, idempotency } = replay;
    if ((yield* run(INSERT_REPLAY, newReplayColumns(replay))) === 0) {
      const text = 'SELECT id, body_hash FROM replays WHERE tenant = @tenant AND key = @key';
      const known = yield* first<{ id: string; body_hash: string }>(text, { tenant, key: idempotency?.key ?? null });
      if (known === null) throw new Error(`replay ${id} was not stored, but no other replay has its key`);
      return known.body_hash === idempotency?.bodyHash ? { kind: 'repeated', id: known.id } : { kind: 'conflict' };
    }
    yield* addBatches(id, replay.batchIds);
    return { kind: 'stored' };
  }),
  get: read((tenant, id) =>
    firstAs(replayFrom, 'SELECT * FROM replays WHERE tenant = @tenant AND id = @id', { tenant, id }),
  ),
  list: read((tenant, page) => newestFirst(REPLAYS, page, { tenant })),
  /** One that is due, and nobody else's before `until`. */
  take: write((now, until) => firstAs(replayFrom, TAKE_DUE, { now, until })),
  isDue: few(function* (now) {
    return (yield* first('SELECT 1 AS found FROM replays WHERE due_at <= @now LIMIT 1', { now })) !== null;
  }),
  /** The next slice of a live replay's batches waits again. */
  advance: write(function* (id, { limit, now }) {
    const row = yield* first<ReplayRow>(LOCK_PREPARING, { id });
    if (row === null) return { replayed: [], nudges: [], cleared: [], more: false };
    const slice = yield* nextBatches(row, limit + 1);
    const taken = slice.slice(0, limit);
    const ids = taken.map((batch) => batch.id);
    const { replayed, nudges } = yield* waitAgain(row.tenant, ids, { now, states: replayFrom(row).filter.states });
    yield* addBatches(id, replayed);
    const last = taken.at(-1);
    const more = slice.length > limit;
    yield* run('UPDATE replays SET state = @state, after_at = @afterAt, after_id = @afterId WHERE id = @id', {
      id,
      state: more ? 'preparing' : 'running',
      afterAt: last?.accepted_at ?? row.after_at,
      afterId: last?.id ?? row.after_id,
    });
    const cleared = yield* all<{ lane: LaneId }>(SELECT_CLEARED, { ids: replayed });
    return { replayed, nudges, cleared: cleared.map(({ lane }) => lane), more };
  }),
  batches: read((id, limit) =>
    allAs(
      batchFrom,
      `${SELECT_BATCHES} JOIN replay_batches r ON r.batch_id = b.id WHERE r.replay_id = @id ${OLDEST_FIRST}`,
      { id, limit },
    ),
  ),
  states: read(function* (id) {
    const rows = yield* all<{ state: BatchState; batches: number }>(COUNT_STATES, { id });
    return Object.fromEntries(rows.map((row) => [row.state, row.batches]));
  }),
  move: write(function* (id, step) {
    return (yield* run(MOVE, { id, ...stepColumns(step) })) === 1;
  }),
  reserve: write(function* (id, asked) {
    const row = yield* first<StandingRow>(LOCK_STANDING, { id });
    if (row === null) return null;
    const reserved = withReservation({ spent: row.spent, reserved: JSON.parse(row.reserved) }, asked);
    if (reserved === null) return null;
    yield* run(KEEP_STANDING, { id, spent: row.spent, reserved: JSON.stringify(reserved) });
    return reserved.at(-1)?.tokens ?? null;
  }),
  settle: write(function* (id, call) {
    const row = yield* first<StandingRow>(LOCK_STANDING, { id });
    if (row === null) return;
    const others = (JSON.parse(row.reserved) as ReservedTokens[]).filter((one) => one.id !== call.id);
    yield* run(KEEP_STANDING, { id, spent: row.spent + call.tokens, reserved: JSON.stringify(others) });
  }),
  /** Tenants have few replays that name anybody. */
  forget: write(function* (tenant, owner) {
    for (const row of yield* all<ReplayRow>(SELECT_NAMING, { tenant })) {
      const rest = withoutOwner(replayFrom(row), owner);
      if (rest === null) continue;
      yield* run('UPDATE replays SET filter = @filter::jsonb, result = @result::jsonb, key = NULL WHERE id = @id', {
        id: row.id,
        filter: JSON.stringify(rest.filter),
        result: jsonOf(rest.result),
      });
    }
  }),
  /** Memories of a lane with what was recorded of them before a moment. */
  lives: snapshot(function* (lane, before, { after, limit }) {
    const condition = `WHERE ${AFTER_IN_LANE} AND m.created_at < @before`;
    const given = { lane, before, after: after ?? '', limit };
    const memories = yield* loadMemories(condition, given, { order: BY_NUMBER });
    const rows = yield* all<EventRow>(SELECT_BEFORE, { ids: memories.map((memory) => memory.id), before });
    const events = Map.groupBy(rows, (row) => row.memory_id);
    return memories.map((memory) => ({ memory, events: (events.get(memory.id) ?? []).map(eventFrom) }));
  }),
});

/** Which batches a filter means: conditions on b (batches), and what they are given. */
function meantBy(tenant: TenantId, filter: ReplayFilter): { conditions: readonly string[]; given: Given } {
  const { states, ids, ...others } = filter;
  const { conditions, given } = askedFor(BATCHES_ASKED, { tenant, ...others });
  const those = ['b.state IN :states', ...conditions];
  return {
    // Those that are named are found by their ids.
    conditions: ids === undefined ? those : ['b.id IN :ids', ...those.map(notBy)],
    given: { ...given, states, ids: ids ?? [] },
  };
}

const BATCHES_ASKED = {
  tenant: 'b.tenant = @tenant',
  lane: `b.lane = ${LANE_NUMBER}`,
  userId: laneOfUser('b.lane', 'number'),
  since: 'b.accepted_at >= @since',
  until: 'b.accepted_at < @until',
  errorCode: "b.failure ->> 'code' = @errorCode",
};

const OLDEST_FIRST = 'ORDER BY b.accepted_at, b.id LIMIT @limit';

const INSERT_REPLAY = `
  INSERT INTO replays (
    id, tenant, kind, state, filter, changes, matched, key, body_hash, after_at, after_id, due_at, created_at
  ) VALUES (
    @id, @tenant, @kind, 'preparing', @filter::jsonb, @changes::jsonb, @matched, @key, @bodyHash, @afterAt, @afterId,
    @now, @now
  ) ON CONFLICT (tenant, key) DO NOTHING`;

function* addBatches(id: string, batchIds: readonly string[]): Script<void> {
  yield* insert(
    'replay_batches',
    batchIds.map((batchId) => ({ replay_id: id, batch_id: batchId })),
    'ON CONFLICT DO NOTHING',
  );
}

const SUM_BATCHES = `
  SELECT count(*) AS batches, count(*) FILTER (WHERE b.backfill) AS backfill, coalesce(sum(b.tokens), 0)::bigint AS tokens,
    coalesce(sum(b.message_count), 0)::bigint AS messages, count(DISTINCT b.lane) AS owners
  FROM batches b`;

const TAKE_DUE = `
  UPDATE replays SET due_at = @until WHERE id = (
    SELECT id FROM replays WHERE due_at <= @now ORDER BY due_at LIMIT 1 FOR UPDATE SKIP LOCKED
  ) RETURNING *`;

const LOCK_PREPARING = "SELECT * FROM replays WHERE id = @id AND state = 'preparing' FOR UPDATE";

function nextBatches(row: ReplayRow, limit: number): Script<readonly { id: string; accepted_at: number }[]> {
  const { conditions, given } = meantBy(row.tenant, replayFrom(row).filter);
  const rest = where([...conditions, '(b.accepted_at, b.id) > (@afterAt, @afterId)']);
  const text = `SELECT b.id, b.accepted_at FROM batches b ${rest} ${OLDEST_FIRST}`;
  return all(text, { ...given, afterAt: row.after_at, afterId: row.after_id, limit });
}

const SELECT_CLEARED = `
  SELECT DISTINCT ${laneIdOf('b.lane')} AS lane FROM batches b
  WHERE b.id IN :ids AND NOT EXISTS (SELECT 1 FROM batches p WHERE p.lane = b.lane AND p.state = 'parked')`;

const COUNT_STATES = `
  SELECT b.state, count(*) AS batches FROM replay_batches r JOIN batches b ON b.id = r.batch_id
  WHERE r.replay_id = @id GROUP BY b.state`;

const MOVE = `
  UPDATE replays SET state = @to, due_at = @dueAt, failure = coalesce(@failure::jsonb, failure),
    result = coalesce(@result::jsonb, result), finished_at = coalesce(@finishedAt, finished_at),
    expires_at = CASE WHEN @setsExpiry = 1 THEN @expiresAt ELSE expires_at END
  WHERE id = @id AND state = @from`;

type StandingRow = Pick<ReplayRow, 'spent' | 'reserved'>;
const LOCK_STANDING = 'SELECT spent, reserved FROM replays WHERE id = @id FOR UPDATE';
const KEEP_STANDING = 'UPDATE replays SET spent = @spent, reserved = @reserved::jsonb WHERE id = @id';

const SELECT_NAMING = `
  SELECT * FROM replays WHERE tenant = @tenant AND (result IS NOT NULL OR filter ->> 'userId' IS NOT NULL)
  ORDER BY id FOR UPDATE`;

const SELECT_BEFORE = `
  ${SELECT_EVENTS} WHERE m.id IN :ids AND e.recorded_at < @before ORDER BY m.id, e.revision`;

/** A replay as it is stored. */
interface ReplayRow extends ColumnsOf<Replay, 'filter' | 'changes' | 'failure' | 'result' | 'reserved'> {
  /** The last batch that was looked at, by acceptance and id. */
  readonly after_at: number;
  readonly after_id: string;
}

const replayFrom = (row: ReplayRow): Replay => ({
  id: row.id,
  tenant: row.tenant,
  kind: row.kind,
  state: row.state,
  filter: JSON.parse(row.filter),
  changes: JSON.parse(row.changes),
  matched: row.matched,
  failure: row.failure === null ? null : JSON.parse(row.failure),
  result: row.result === null ? null : JSON.parse(row.result),
  createdAt: row.created_at,
  spent: row.spent,
  reserved: JSON.parse(row.reserved),
  finishedAt: row.finished_at,
  expiresAt: row.expires_at,
});

const newReplayColumns = (replay: NewReplay) => ({
  id: replay.id,
  tenant: replay.tenant,
  kind: replay.kind,
  filter: JSON.stringify(replay.filter),
  changes: JSON.stringify(replay.changes),
  matched: replay.matched,
  key: replay.idempotency?.key ?? null,
  bodyHash: replay.idempotency?.bodyHash ?? null,
  afterAt: FROM_THE_START.at,
  afterId: FROM_THE_START.id,
  now: replay.now,
});

/** Before the first batch there can be. */
const FROM_THE_START = { at: -Number.MAX_SAFE_INTEGER, id: '' };

/** What a step changes, as columns; what it leaves out stays. */
const stepColumns = (step: ReplayStep) => ({
  from: step.from,
  to: step.to,
  dueAt: step.dueAt,
  failure: jsonOf(step.failure),
  result: jsonOf(step.result),
  finishedAt: step.finishedAt ?? null,
  setsExpiry: step.expiresAt === undefined ? 0 : 1,
  expiresAt: step.expiresAt ?? null,
});

const REPLAYS: Listing<ReplayRow, Replay> = {
  select: 'SELECT * FROM replays',
  by: ['created_at', 'id'],
  asked: { tenant: 'tenant = @tenant' },
  make: replayFrom,
};

const RUNS_OF_SUITE: Listing<ReplayRow, Replay> = {
  ...REPLAYS,
  asked: { ...REPLAYS.asked, suiteId: "filter ->> 'suite' = @suiteId" },
};

export const suiteStore = storeOf<SuiteStore>('suites', {
  create: write(function* (suite, cases) {
    if ((yield* run(INSERT_SUITE, suiteColumns(suite))) === 0) return false;
    const lanes = [...new Set(cases.flatMap(({ lane }) => lane ?? []))];
    // Whoever erases or forgets something of them meanwhile finds its cases, and what went before is in none.
    const standing = yield* all<{ id: string }>(LOCK_LANES, { lanes });
    const known = new Set(standing.map(({ id }) => id));
    const memoryIds = yield* idsOf(SELECT_FORGOTTEN, { lanes });
    const forgotten = [...memoryIds, ...(yield* idsOf(SELECT_SAYING, { memoryIds }))];
    const rows = cases.map(({ id, place, owner, lane, content }) => ({
      ...{ id, suite_id: suite.id, place, owner_kind: owner.kind, owner_id: owner.id, lane },
      content: JSON.stringify(content),
    }));
    yield* insert(
      'suite_cases',
      rows.filter(({ lane, content }) => lane === null || (known.has(lane) && !holdsAny(content, forgotten))),
    );
    return true;
  }),
  find: lookup((tenant, name) => firstAs(suiteFrom, `${SELECT_SUITES} AND name = @name`, { tenant, name })),
  get: lookup((tenant, id) => firstAs(suiteFrom, `${SELECT_SUITES} AND id = @id`, { tenant, id })),
  list: read((tenant, page) => newestFirst(SUITES, page, { tenant })),
  cases: read((suiteId, { after, limit }) => allAs(caseFrom, SELECT_CASES, { suiteId, after, limit })),
  setMargins: statement(function* (...[tenant, id, margins]) {
    const text = 'UPDATE suites SET margins = @margins::jsonb WHERE id = @id AND tenant = @tenant';
    return (yield* run(text, { tenant, id, margins: JSON.stringify(margins) })) === 1;
  }),
  remove: write(function* (tenant, id) {
    yield* run('DELETE FROM suite_cases WHERE suite_id = (SELECT id FROM suites WHERE id = @id AND tenant = @tenant)', {
      tenant,
      id,
    });
    if ((yield* run('DELETE FROM suites WHERE id = @id AND tenant = @tenant', { tenant, id })) === 0) return false;
    // By its cases it could be told what of it is forgotten: without them nothing is left that quotes anybody.
    yield* forgetInRuns({ tenant, suites: [id] }, ({ result }) => result && { ...result, differences: [] });
    return true;
  }),
  assess: write(function* (id, assessments) {
    const rows = assessments.map(({ item, by, verdict }) => ({ run_id: id, item, assessor: by, verdict }));
    yield* insert(
      'suite_assessments',
      rows,
      'ON CONFLICT (run_id, item, assessor) DO UPDATE SET verdict = excluded.verdict',
    );
  }),
  assessments: read((id) => all<Assessment>(SELECT_ASSESSMENTS, { id })),
  runs: read((...[tenant, suiteId, page]) => newestFirst(RUNS_OF_SUITE, page, { tenant, suiteId })),
});

const INSERT_SUITE = `
  INSERT INTO suites (id, tenant, name, origin, masked, margins, created_at)
  VALUES (@id, @tenant, @name, @origin, @masked, @margins::jsonb, @createdAt) ON CONFLICT (tenant, name) DO NOTHING`;

const LOCK_LANES = 'SELECT id FROM lanes WHERE id IN :lanes AND erasure IS NULL ORDER BY id FOR NO KEY UPDATE';

const SELECT_FORGOTTEN =
  'SELECT id FROM memories WHERE lane IN FEW (SELECT number FROM lanes WHERE id IN :lanes;) AND forgotten_at IS NOT NULL';

const SELECT_SUITES = 'SELECT * FROM suites WHERE tenant = @tenant';

const SELECT_CASES =
  'SELECT * FROM suite_cases WHERE suite_id = @suiteId AND place > @after ORDER BY place LIMIT @limit';

const SELECT_ASSESSMENTS =
  'SELECT item, assessor AS by, verdict FROM suite_assessments WHERE run_id = @id ORDER BY item, assessor';

const SUITES: Listing<SuiteRow, Suite> = {
  select: 'SELECT * FROM suites',
  by: ['created_at', 'id'],
  asked: { tenant: 'tenant = @tenant' },
  make: (row) => suiteFrom(row),
};

type SuiteRow = ColumnsOf<Suite, 'margins'>;

const suiteColumns = (suite: Suite) => ({
  ...suite,
  masked: suite.masked ? 1 : 0,
  margins: JSON.stringify(suite.margins),
});

const suiteFrom = (row: SuiteRow): Suite => ({
  id: row.id,
  tenant: row.tenant,
  name: row.name,
  origin: row.origin,
  masked: row.masked === 1,
  margins: JSON.parse(row.margins),
  createdAt: row.created_at,
});

interface CaseRow extends ColumnsOf<Omit<SuiteCase, 'owner'>, 'content'> {
  readonly owner_kind: OwnerKind;
  readonly owner_id: string;
}

const caseFrom = (row: CaseRow): SuiteCase => ({
  id: row.id,
  suiteId: row.suite_id,
  place: row.place,
  owner: { kind: row.owner_kind, id: row.owner_id },
  lane: row.lane,
  content: JSON.parse(row.content),
});
