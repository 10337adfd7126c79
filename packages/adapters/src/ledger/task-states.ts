import type { NewTaskVersion, RunPlace, TaskState, TaskStateStore, TaskWritten } from '@slowwave/engine';
import { pausedAtOf, TASK_VERSIONS_KEPT } from '@slowwave/engine/storing';
import { pausesFrom } from './lane-life.ts';
import { isStanding, type Listing, newestFirst } from './page.ts';
import { type ColumnsOf, type OwnerColumns, ownerFrom } from './rows/columns.ts';
import { all, first, firstAs, insert, read, run, type Script, storeOf, write as writing } from './script.ts';
import { lockLane } from './turn.ts';

export const taskStateStore = storeOf<TaskStateStore>('taskStates', {
  get: read((place) => current(place)),
  write: writing(write),
  history: read((place, page) => newestFirst(HISTORY, page, { ...place })),
  list: read((tenant, { lane, ended }, page) =>
    newestFirst(ended === undefined ? RUNS : ended ? ENDED : GOING_ON, page, { tenant, lane }),
  ),
  drop: writing(function* (tenant, endedBefore, limit) {
    const text = `
      SELECT lane, run_id FROM task_states
      WHERE tenant = @tenant AND latest AND ended_at IS NOT NULL AND ended_at < @endedBefore LIMIT @limit`;
    const runs = yield* all<{ lane: string; run_id: string }>(text, { tenant, endedBefore, limit });
    for (const { lane, run_id } of runs)
      yield* run('DELETE FROM task_states WHERE lane = @lane AND run_id = @run_id', { lane, run_id });
    return runs.length;
  }),
});

function* write(version: NewTaskVersion): Script<TaskWritten> {
  const { tenant, lane: laneId, expected, now } = version;
  const lane = yield* lockLane(laneId);
  if (lane === null || lane.tenant !== tenant || lane.erasure !== null) return { kind: 'erased' };
  const before = yield* writtenBefore(version);
  if (before !== null) return before;
  const state = yield* current(version);
  if (state !== null && state.endedAt !== null) return { kind: 'ended', state };
  if ((state?.version ?? 0) !== expected) return { kind: 'conflict', state };
  const paused = state?.paused === true || pausedAtOf(pausesFrom(lane)) !== null;
  yield* add(version, state, paused);
  // A run that ends is news of its owner: a night remembers what it came to.
  if (version.ends)
    yield* run('UPDATE lanes SET updated_at = greatest(updated_at, @now) WHERE id = @laneId', { laneId, now });
  const written = yield* current(version);
  if (written === null) throw new Error(`the state of run ${version.runId} was written but is missing`);
  return { kind: 'written', state: written, repeated: false };
}

/** What became of the same key; null: it is new, or there is none. */
function* writtenBefore({ lane, runId, key }: NewTaskVersion): Script<TaskWritten | null> {
  if (key === null) return null;
  const before = yield* first<TaskRow>(BY_KEY, { lane, runId, key: key.key });
  if (before === null) return null;
  return before.body_hash === key.bodyHash
    ? { kind: 'written', state: taskFrom(before), repeated: true }
    : { kind: 'key_used' };
}

function* add(
  { lane, runId, key, now, ...version }: NewTaskVersion,
  state: TaskState | null,
  paused: boolean,
): Script<void> {
  const place = { lane, runId };
  const number = version.expected + 1;
  yield* run('UPDATE task_states SET latest = FALSE WHERE lane = @lane AND run_id = @runId AND latest', place);
  const row = {
    ...{ tenant: version.tenant, lane, run_id: runId, version: number, latest: 1 },
    app_id: state === null ? version.appId : state.appId,
    document: JSON.stringify(version.document),
    idempotency_key: key?.key ?? null,
    body_hash: key?.bodyHash ?? null,
    created_at: state?.createdAt ?? now,
    written_at: Math.max(now, state?.writtenAt ?? now),
    ended_at: version.ends ? now : null,
    paused: paused ? 1 : 0,
  };
  yield* insert('task_states', [row]);
  const old = number - TASK_VERSIONS_KEPT;
  yield* run('DELETE FROM task_states WHERE lane = @lane AND run_id = @runId AND version <= @old', { ...place, old });
}

const SELECT_STATES = 'SELECT t.*, l.owner_kind, l.owner_id FROM task_states t JOIN lanes l ON l.id = t.lane';

const current = ({ tenant, lane, runId }: RunPlace): Script<TaskState | null> =>
  firstAs(
    taskFrom,
    `${SELECT_STATES} WHERE t.lane = @lane AND t.run_id = @runId AND t.latest AND t.tenant = @tenant AND ${isStanding('t.lane')}`,
    { tenant, lane, runId },
  );

const BY_KEY = `${SELECT_STATES} WHERE t.lane = @lane AND t.run_id = @runId AND t.idempotency_key = @key`;

interface TaskRow extends ColumnsOf<Omit<TaskState, 'owner' | 'paused'>, 'document'>, OwnerColumns {
  readonly paused: 0 | 1;
  readonly body_hash: string | null;
}

const taskFrom = (row: TaskRow): TaskState => ({
  tenant: row.tenant,
  lane: row.lane,
  runId: row.run_id,
  owner: ownerFrom(row),
  appId: row.app_id,
  version: row.version,
  document: JSON.parse(row.document),
  createdAt: row.created_at,
  writtenAt: row.written_at,
  endedAt: row.ended_at,
  paused: row.paused === 1,
});

const OF_LANE = { tenant: 't.tenant = @tenant', lane: 't.lane = @lane' };

const HISTORY: Listing<TaskRow, TaskState> = {
  select: SELECT_STATES,
  by: ['t.version', 't.run_id'],
  always: [isStanding('t.lane')],
  asked: { ...OF_LANE, runId: 't.run_id = @runId' },
  make: taskFrom,
};

const RUNS: Listing<TaskRow, TaskState> = {
  select: SELECT_STATES,
  by: ['t.written_at', 't.run_id'],
  always: ['t.latest', isStanding('t.lane')],
  asked: OF_LANE,
  make: taskFrom,
};
const ENDED: Listing<TaskRow, TaskState> = { ...RUNS, always: [...(RUNS.always ?? []), 't.ended_at IS NOT NULL'] };
const GOING_ON: Listing<TaskRow, TaskState> = { ...RUNS, always: [...(RUNS.always ?? []), 't.ended_at IS NULL'] };
