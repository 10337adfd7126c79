import type { BulkAnswered, BulkJob, BulkQuestion, BulkStore, LaneId, Millis, Nudge } from '@slowwave/engine';
import { raise } from './lane-life.ts';
import { consolidationNumber } from './page.ts';
import {
  all,
  allAs,
  counted as countOf,
  first,
  firstAs,
  ifHeld,
  read,
  run,
  type Script,
  storeOf,
  write,
} from './script.ts';
import { answersOf, keeping } from './thoughts.ts';
import { laneOfTurn, lockLane, lockLanes, saveLane } from './turn.ts';

export const bulkStore = storeOf<BulkStore>('bulk', {
  ask: write(function* (turn, { id, step, inputHash, call, counted, now, until, why }) {
    const lane = yield* laneOfTurn(turn);
    if (lane === null) return { kind: 'fenced' };
    const asked = { consolidationId: turn.consolidationId, step, inputHash };
    const known = yield* first<{ state: QuestionState; asked_at: Millis }>(SELECT_KNOWN, asked);
    const waitsAlready = known?.state === 'open' && known.asked_at + (until - now) > now;
    if (known !== null && !waitsAlready) return { kind: 'ask' };
    if (known === null) {
      const isLive = lane.pending > lane.pending_backfill || (yield* countOf(COUNT_LIVE, { ids: turn.batchIds })) > 0;
      if (isLive) return { kind: 'ask' };
      const { attempts } = turn;
      yield* run(INSERT_QUESTION, {
        id,
        ...asked,
        lane: turn.lane,
        call: JSON.stringify({ call, counted }),
        attempts,
        now,
      });
    }
    const showing = `UPDATE batches SET failure = @why::jsonb WHERE consolidation = ${consolidationNumber('@consolidationId')}`;
    yield* run(showing, { consolidationId: turn.consolidationId, why: JSON.stringify(why) });
    yield* saveLane({ ...lane, due_at: until });
    return { kind: 'waits' };
  }),
  gather: write(function* ({ id, before, limit, charsMax, now }) {
    const [oldest] = yield* all<{ asked_at: Millis }>(SELECT_OLDEST);
    if (oldest === undefined || oldest.asked_at > before) return null;
    const waiting = yield* all<{ id: string; chars: number }>(SELECT_WAITING, { limit });
    const ids = fitting(waiting, charsMax);
    if (ids.length === 0) return null;
    yield* run(INSERT_JOB, { id, now });
    yield* run('UPDATE bulk_questions SET job = @id WHERE id IN :ids', { id, ids });
    return { id, state: 'created', remote: null, tries: 0, createdAt: now };
  }),
  take: write((now, until) => firstAs(jobFrom, TAKE_DUE, { now, until })),
  open: read((jobId) => allAs(questionFrom, `${SELECT_OF_JOB} AND +state = 'open' ORDER BY asked_at, id`, { jobId })),
  asked: read((jobId) => allAs(questionFrom, `${SELECT_OF_JOB} ORDER BY asked_at, id`, { jobId })),
  move: write(function* ({ id, state }, step) {
    if (step === null)
      return (yield* run('DELETE FROM bulk_jobs WHERE id = @id AND state = @state', { id, state })) === 1;
    const { remote, ...columns } = step;
    const given = { ...columns, id, from: state, remote: remote && JSON.stringify(remote) };
    if ((yield* run(MOVE, given)) === 1) return true;
    // It was cancelled meanwhile: how the provider calls it is noted all the same, for whoever deletes it there.
    yield* run('UPDATE bulk_jobs SET remote = coalesce(@remote::jsonb, remote) WHERE id = @id', {
      id,
      remote: given.remote,
    });
    return false;
  }),
  answer: write(function* (id, answered, now) {
    const asked = yield* first<AskedRow>(SELECT_ASKED, { id });
    if (asked === null) return null;
    return yield* ended(asked, answered, now);
  }),
  takeBack: write(function* (now, limit) {
    const rows = yield* all<AskedRow>(SELECT_LIVELY, { limit });
    return yield* settle(rows, { state: 'taken_back', wakes: true, now });
  }),
  abandon: write(function* (now, limit) {
    const rows = yield* all<AskedRow>(SELECT_ANY, { limit });
    return yield* settle(rows, { state: 'failed', wakes: true, now });
  }),
  cancel: write(function* (lane, now) {
    yield* run(CANCEL, { lane, now });
  }),
  erasing: read(() => countOf('SELECT count(*) AS count FROM bulk_jobs WHERE erasing')),
  drop: write((before, limit) => run(DROP, { before, limit })),
});

type QuestionState = 'open' | 'taken_back' | 'answered' | 'failed';

/** What is asked, and for whom. */
interface AskedRow {
  readonly id: string;
  readonly lane: LaneId;
  readonly consolidation_id: string;
}

/** Under the lane's lock: its window may be taken back at the same time. */
function* ended(asked: AskedRow, answered: BulkAnswered | null, now: Millis): Script<Nudge | null> {
  yield* lockLane(asked.lane);
  const found = yield* first<{ state: QuestionState }>('SELECT state FROM bulk_questions WHERE id = @id', {
    id: asked.id,
  });
  if (found === null || found.state === 'answered' || found.state === 'failed') return null;
  if (answered !== null) yield* keepAnswer(asked, answered);
  const [nudge] = yield* settle([asked], {
    state: answered === null ? 'failed' : 'answered',
    wakes: found.state === 'open',
    now,
  });
  return nudge ?? null;
}

/** It was paid for, also where somebody asked in the meantime. */
function* keepAnswer({ consolidation_id: consolidationId }: AskedRow, { answer, call }: BulkAnswered): Script<void> {
  const { step, inputHash } = answer;
  const answers = yield* answersOf([consolidationId]);
  const isLate = answers.some((one) => one.step === step && one.input_hash === inputHash);
  const kept = { ...answer, ...(isLate && { step: `${step}:late` }) };
  const held = { text: SELECT_CONSOLIDATION, given: { consolidationId } };
  yield* ifHeld(held, ...keeping({ consolidationId }, kept, call));
}

interface Settling {
  readonly state: QuestionState;
  /** Its lane waits for it. */
  readonly wakes: boolean;
  readonly now: Millis;
}

/** Questions nobody waits for any more. Their lanes go on at once, each under a new generation. */
function* settle(rows: readonly AskedRow[], { state, wakes, now }: Settling): Script<readonly Nudge[]> {
  // Lanes first, as everybody does.
  const lanes = wakes ? yield* lockLanes(rows.map(({ lane }) => lane)) : [];
  yield* run(SETTLE, { state, ids: rows.map(({ id }) => id) });
  const nudges: Nudge[] = [];
  const pinned = new Set(rows.map(({ consolidation_id: id }) => id));
  for (const lane of lanes) {
    if (lane.erasure !== null || !pinned.has(lane.consolidation_id ?? '')) continue;
    const step = raise({ ...lane, due_at: now });
    yield* saveLane(step.lane);
    if (step.nudge !== null) nudges.push(step.nudge);
  }
  return nudges;
}

/** The first that fit together, and one at least. */
function fitting(waiting: readonly { readonly id: string; readonly chars: number }[], charsMax: number): string[] {
  let room = charsMax;
  const end = waiting.findIndex(({ chars }, i) => {
    room -= chars;
    return i > 0 && room < 0;
  });
  return (end === -1 ? waiting : waiting.slice(0, end)).map(({ id }) => id);
}

interface JobRow {
  readonly id: string;
  readonly state: BulkJob['state'];
  readonly remote: string | null;
  readonly tries: number;
  readonly created_at: Millis;
}

const jobFrom = ({ id, state, remote, tries, created_at: createdAt }: JobRow): BulkJob => ({
  ...{ id, state, tries, createdAt },
  remote: remote === null ? null : JSON.parse(remote),
});

interface QuestionRow {
  readonly id: string;
  readonly lane: LaneId;
  readonly step: string;
  readonly input_hash: string;
  readonly attempts: number;
  readonly call: string;
}

const questionFrom = ({ input_hash: inputHash, call, ...row }: QuestionRow): BulkQuestion => ({
  ...{ id: row.id, lane: row.lane, step: row.step, inputHash, attempts: row.attempts },
  ...(JSON.parse(call) as Pick<BulkQuestion, 'call' | 'counted'>),
});

const SELECT_KNOWN = `
  SELECT state, asked_at FROM bulk_questions
  WHERE consolidation_id = @consolidationId AND step = @step AND input_hash = @inputHash`;

const COUNT_LIVE = 'SELECT count(*) AS count FROM batches WHERE id IN :ids AND NOT backfill';

const INSERT_QUESTION = `
  INSERT INTO bulk_questions (id, lane, consolidation_id, step, input_hash, attempts, call, chars, state, asked_at)
  VALUES (@id, @lane, @consolidationId, @step, @inputHash, @attempts, @call::jsonb, length(@call::text), 'open', @now)`;

const SELECT_OLDEST = `
  SELECT asked_at FROM bulk_questions WHERE state = 'open' AND job IS NULL ORDER BY asked_at LIMIT 1`;

const SELECT_WAITING = `
  SELECT id, chars FROM bulk_questions WHERE state = 'open' AND job IS NULL
  ORDER BY asked_at LIMIT @limit FOR UPDATE SKIP LOCKED`;

const SETTLE = `
  UPDATE bulk_questions SET state = @state WHERE id IN :ids AND +state IN ('open', 'taken_back')`;

const INSERT_JOB = `
  INSERT INTO bulk_jobs (id, state, erasing, tries, due_at, created_at)
  VALUES (@id, 'created', false, 0, @now, @now)`;

const TAKE_DUE = `
  UPDATE bulk_jobs SET due_at = @until WHERE id = (
    SELECT id FROM bulk_jobs WHERE due_at <= @now ORDER BY due_at LIMIT 1 FOR UPDATE SKIP LOCKED
  ) RETURNING *`;

const SELECT_OF_JOB = `
  SELECT id, lane, step, input_hash, attempts, call FROM bulk_questions WHERE job = @jobId`;

const MOVE = `
  UPDATE bulk_jobs SET state = @state, remote = @remote::jsonb, tries = @tries, due_at = @dueAt
  WHERE id = @id AND state = @from`;

const ASKED = `
  SELECT q.id, q.lane, q.consolidation_id FROM bulk_questions q JOIN lanes l ON l.id = q.lane`;

const SELECT_ASKED = `${ASKED} WHERE q.id = @id`;
const SELECT_ANY = `${ASKED} WHERE q.state = 'open' LIMIT @limit`;
const SELECT_LIVELY = `${ASKED} WHERE q.state = 'open' AND l.pending > l.pending_backfill LIMIT @limit`;

const SELECT_CONSOLIDATION = 'SELECT 1 AS held FROM consolidations WHERE id = @consolidationId FOR KEY SHARE';

/** What was not sent yet has nothing to be deleted there. */
const CANCEL = `
  UPDATE bulk_jobs SET state = CASE WHEN state = 'cleaning' THEN 'cleaning' ELSE 'cancelling' END, erasing = true, due_at = @now
  WHERE id IN (SELECT job FROM bulk_questions WHERE lane = @lane AND job IS NOT NULL)`;

const DROP = `
  DELETE FROM bulk_questions WHERE id IN (
    SELECT id FROM bulk_questions WHERE state <> 'open' AND asked_at < @before LIMIT @limit
  )`;
