import type {
  Batch,
  BatchState,
  LaneId,
  Life,
  Millis,
  NewReplay,
  Nudge,
  Owner,
  Page,
  Paged,
  Replay,
  ReplayCreated,
  ReplayFilter,
  ReplayStep,
  ReplayStore,
  TenantId,
} from '@slowwave/engine';
import { withoutOwner } from '@slowwave/engine/storing';
import { type Access, asRead, asSnapshot, asWrite } from './access.ts';
import { waitAgain } from './batches.ts';
import { pageOf } from './cursor.ts';
import { loadMemories } from './memories.ts';
import { laneOfUser, newestFirst, where } from './page.ts';
import { type BatchRow, batchFrom, SELECT_BATCHES } from './rows/batch.ts';
import { type EventRow, eventFrom } from './rows/event.ts';
import { jsonOf, newReplayColumns, type ReplayRow, replayFrom, stepColumns } from './rows/replay.ts';
import { all, first, type Given, insert, run, type Script, type Table, together } from './script.ts';

export const replayStore = ({ read, write }: Access): ReplayStore => ({
  match: (tenant, filter, limit) => read(matchBatches, { tenant, filter, limit }),
  create: (replay) => write(createReplay, replay),
  get: (tenant, id) => read(getReplay, { tenant, id }),
  list: (tenant, page) => read(listReplays, { tenant, page }),
  take: (now, until) => write(takeReplay, { now, until }),
  advance: (id, how) => write(advanceReplay, { id, ...how }),
  batches: (id, limit) => read(batchesOf, { id, limit }),
  states: (id) => read(statesOf, { id }),
  move: (id, step) => write(moveReplay, { id, step }),
  forget: (tenant, owner) => write(forgetOwner, { tenant, owner }),
  lives: (lane, before, { after, limit }) => read(livesOf, { lane, before, after: after ?? '', limit }),
});

interface Match {
  readonly tenant: TenantId;
  readonly filter: ReplayFilter;
  readonly limit: number;
}

interface Matched {
  readonly matched: number;
  readonly batches: readonly Batch[];
}

const matchBatches = asSnapshot('replays.match', function* ({ tenant, filter, limit }: Match): Script<Matched> {
  const { conditions, given } = meantBy(tenant, filter);
  const [counted, rows] = yield* together(
    first<{ matched: number }>(`SELECT count(*) AS matched FROM batches b ${where(conditions)}`, given),
    all<BatchRow>(`${SELECT_BATCHES} ${where(conditions)} ${OLDEST_FIRST}`, { ...given, limit }),
  );
  return { matched: counted?.matched ?? 0, batches: rows.map(batchFrom) };
});

/** Which batches a filter means: conditions on b (batches), and what they are given. */
function meantBy(tenant: TenantId, filter: ReplayFilter): { conditions: readonly (string | null)[]; given: Given } {
  const { states, ids, lane = null, userId = null, since = null, until = null, errorCode = null } = filter;
  const conditions = [
    'b.tenant = @tenant',
    'b.state IN :states',
    lane === null ? null : 'b.lane = @lane',
    userId === null ? null : laneOfUser('b.lane'),
    since === null ? null : 'b.accepted_at >= @since',
    until === null ? null : 'b.accepted_at < @until',
    errorCode === null ? null : "b.failure ->> 'code' = @errorCode",
  ];
  return {
    // Those that are named are found by their ids.
    conditions: ids === undefined ? conditions : ['b.id IN :ids', ...conditions.map((one) => one && `+${one}`)],
    given: { tenant, states, ids: ids ?? [], lane, userId, since, until, errorCode },
  };
}

const OLDEST_FIRST = 'ORDER BY b.accepted_at, b.id LIMIT @limit';

const createReplay = asWrite('replays.create', function* (replay: NewReplay): Script<ReplayCreated> {
  const { tenant, id, idempotency } = replay;
  if ((yield* run(INSERT_REPLAY, newReplayColumns(replay))) === 0) {
    const text = 'SELECT id, body_hash FROM replays WHERE tenant = @tenant AND key = @key';
    const known = yield* first<{ id: string; body_hash: string }>(text, { tenant, key: idempotency?.key ?? null });
    if (known === null) throw new Error(`replay ${id} was not stored, and no other has its key`);
    return known.body_hash === idempotency?.bodyHash ? { kind: 'repeated', id: known.id } : { kind: 'conflict' };
  }
  yield* addBatches(id, replay.batchIds);
  return { kind: 'stored' };
});

const INSERT_REPLAY = `
  INSERT INTO replays (
    id, tenant, kind, state, filter, changes, matched, key, body_hash, after_at, after_id, due_at, created_at
  ) VALUES (
    @id, @tenant, @kind, 'preparing', @filter::jsonb, @changes::jsonb, @matched, @key, @bodyHash, @afterAt, @afterId,
    @now, @now
  ) ON CONFLICT (tenant, key) DO NOTHING`;

function* addBatches(id: string, batchIds: readonly string[]): Script<void> {
  yield* insert(
    REPLAY_BATCHES,
    batchIds.map((batchId) => ({ replay_id: id, batch_id: batchId })),
  );
}

const REPLAY_BATCHES: Table<'replay_id' | 'batch_id'> = {
  name: 'replay_batches',
  columns: { replay_id: 'text', batch_id: 'text' },
  onConflict: 'ON CONFLICT DO NOTHING',
};

interface OneOf {
  readonly tenant: TenantId;
  readonly id: string;
}

const getReplay = asRead('replays.get', function* (of: OneOf): Script<Replay | null> {
  const row = yield* first<ReplayRow>('SELECT * FROM replays WHERE tenant = @tenant AND id = @id', { ...of });
  return row === null ? null : replayFrom(row);
});

interface List {
  readonly tenant: TenantId;
  readonly page: Page;
}

const listReplays = asRead('replays.list', function* ({ tenant, page }: List): Script<Paged<Replay>> {
  const newest = newestFirst(page, 'created_at', 'id');
  const conditions = where(['tenant = @tenant', newest.condition]);
  const given = { tenant, ...newest.params };
  const rows = yield* all<ReplayRow>(`SELECT * FROM replays ${conditions} ${newest.order}`, given);
  const { results, nextCursor } = pageOf(rows, page.limit, (row) => [row.created_at, row.id]);
  return { results: results.map(replayFrom), nextCursor };
});

interface Take {
  readonly now: number;
  readonly until: number;
}

/** One that is due, and nobody else's before `until`. */
const takeReplay = asWrite('replays.take', function* ({ now, until }: Take): Script<Replay | null> {
  const row = yield* first<ReplayRow>(TAKE_DUE, { now, until });
  return row === null ? null : replayFrom(row);
});

const TAKE_DUE = `
  UPDATE replays SET due_at = @until WHERE id = (
    SELECT id FROM replays WHERE due_at <= @now ORDER BY due_at LIMIT 1 FOR UPDATE SKIP LOCKED
  ) RETURNING *`;

interface Advance {
  readonly id: string;
  readonly limit: number;
  readonly now: number;
}

interface Advanced {
  readonly replayed: readonly string[];
  readonly nudges: readonly Nudge[];
  readonly more: boolean;
}

/** The next slice of a live replay's batches waits again. */
const advanceReplay = asWrite('replays.advance', function* ({ id, limit, now }: Advance): Script<Advanced> {
  const row = yield* first<ReplayRow>(LOCK_PREPARING, { id });
  if (row === null) return { replayed: [], nudges: [], more: false };
  const slice = yield* nextBatches(row, limit + 1);
  const taken = slice.slice(0, limit);
  const ids = taken.map((batch) => batch.id);
  const { replayed, nudges } = yield* waitAgain({ tenant: row.tenant, ids, now });
  yield* addBatches(id, replayed);
  const last = taken.at(-1);
  const more = slice.length > limit;
  yield* run('UPDATE replays SET state = @state, after_at = @afterAt, after_id = @afterId WHERE id = @id', {
    id,
    state: more ? 'preparing' : 'running',
    afterAt: last?.accepted_at ?? row.after_at,
    afterId: last?.id ?? row.after_id,
  });
  return { replayed, nudges, more };
});

const LOCK_PREPARING = "SELECT * FROM replays WHERE id = @id AND state = 'preparing' FOR UPDATE";

function nextBatches(row: ReplayRow, limit: number): Script<readonly { id: string; accepted_at: number }[]> {
  const { conditions, given } = meantBy(row.tenant, replayFrom(row).filter);
  const rest = where([...conditions, '(b.accepted_at, b.id) > (@afterAt, @afterId)']);
  const text = `SELECT b.id, b.accepted_at FROM batches b ${rest} ${OLDEST_FIRST}`;
  return all(text, { ...given, afterAt: row.after_at, afterId: row.after_id, limit });
}

interface BatchesOf {
  readonly id: string;
  readonly limit: number;
}

const batchesOf = asRead('replays.batches', function* (of: BatchesOf): Script<readonly Batch[]> {
  const text = `${SELECT_BATCHES} JOIN replay_batches r ON r.batch_id = b.id WHERE r.replay_id = @id ${OLDEST_FIRST}`;
  return (yield* all<BatchRow>(text, { ...of })).map(batchFrom);
});

type States = Readonly<Partial<Record<BatchState, number>>>;

const statesOf = asRead('replays.states', function* ({ id }: { id: string }): Script<States> {
  const text = `
    SELECT b.state, count(*) AS batches FROM replay_batches r JOIN batches b ON b.id = r.batch_id
    WHERE r.replay_id = @id GROUP BY b.state`;
  const rows = yield* all<{ state: BatchState; batches: number }>(text, { id });
  return Object.fromEntries(rows.map((row) => [row.state, row.batches]));
});

interface Move {
  readonly id: string;
  readonly step: ReplayStep;
}

const moveReplay = asWrite('replays.move', function* ({ id, step }: Move): Script<boolean> {
  return (yield* run(MOVE, { id, ...stepColumns(step) })) === 1;
});

const MOVE = `
  UPDATE replays SET state = @to, due_at = @dueAt, failure = coalesce(@failure::jsonb, failure),
    result = coalesce(@result::jsonb, result), finished_at = coalesce(@finishedAt, finished_at),
    expires_at = CASE WHEN @setsExpiry = 1 THEN @expiresAt ELSE expires_at END
  WHERE id = @id AND state = @from`;

interface Forget {
  readonly tenant: TenantId;
  readonly owner: Owner;
}

/** Tenants have few replays that name anybody. */
const forgetOwner = asWrite('replays.forget', function* ({ tenant, owner }: Forget): Script<void> {
  for (const row of yield* all<ReplayRow>(SELECT_TELLING, { tenant })) {
    const rest = withoutOwner(replayFrom(row), owner);
    if (rest === null) continue;
    yield* run('UPDATE replays SET filter = @filter::jsonb, result = @result::jsonb, key = NULL WHERE id = @id', {
      id: row.id,
      filter: JSON.stringify(rest.filter),
      result: jsonOf(rest.result),
    });
  }
});

const SELECT_TELLING = `
  SELECT * FROM replays WHERE tenant = @tenant AND (result IS NOT NULL OR filter ->> 'userId' IS NOT NULL)
  ORDER BY id FOR UPDATE`;

interface Lives {
  readonly lane: LaneId;
  readonly before: Millis;
  readonly after: string;
  readonly limit: number;
}

/** Memories of a lane with what was recorded of them before a moment. */
const livesOf = asSnapshot('replays.lives', function* ({ lane, before, after, limit }: Lives): Script<readonly Life[]> {
  const condition = 'WHERE m.lane = @lane AND m.created_at < @before AND m.id > @after';
  const memories = yield* loadMemories(condition, { lane, before, after, limit });
  const ids = memories.map((memory) => memory.id);
  const rows = yield* all<EventRow>(SELECT_EVENTS, { ids, before });
  const events = Map.groupBy(rows, (row) => row.memory_id);
  return memories.map((memory) => ({ memory, events: (events.get(memory.id) ?? []).map(eventFrom) }));
});

const SELECT_EVENTS = `
  SELECT * FROM events WHERE memory_id IN :ids AND recorded_at < @before ORDER BY memory_id, revision`;
