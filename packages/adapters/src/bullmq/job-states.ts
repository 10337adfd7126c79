import type { TurnState } from '@slowwave/engine';
import type { JobsOptions, Queue } from 'bullmq';
import type { Redis } from 'ioredis';

/**
 * What a queue knows of jobs, one state for each, in one call for all of them: the library asks for one at a time.
 * What is left of a job that no worker would ever take (an operator, an eviction or a crash removed one key of the queue
 * and not the others) is removed on the way, and the job is absent: the library would ignore a new one of its name.
 */
export type JobStates = (queue: string, ids: readonly string[]) => Promise<readonly TurnState[]>;

/** A job that waits for longer is not "about to be taken": whoever knows that it is due should give it another one. */
const ASLEEP_MS = 60_000;
/** Jobs asked about in one call: a few milliseconds of the server's time, in which it answers nobody else. */
const JOBS_PER_CALL = 250;

/** The library keeps the time of a delayed job times this, to count those of one millisecond. */
const DELAYED_SCORE = 4_096;

/**
 * KEYS[1] the queue; ARGV: the time until which a job counts as about to be taken, then ids. A job without its own key is
 * taken as absent wherever its id still stands: adding it again makes it whole. One that is locked is being worked on.
 */
const STATES = `
local base = KEYS[1] .. ':'
local function has(set, id) return redis.call('ZSCORE', base .. set, id) end
local function stateOf(id)
  if redis.call('EXISTS', base .. id) == 0 then return 'absent' end
  local delayed = has('delayed', id)
  if delayed then
    if tonumber(delayed) / ${DELAYED_SCORE} > tonumber(ARGV[1]) then return 'asleep' end
    return 'scheduled'
  end
  if has('prioritized', id) then return 'scheduled' end
  if has('completed', id) or has('failed', id) then return 'finished' end
  if redis.call('EXISTS', base .. id .. ':lock') == 1 then return 'active' end
  if redis.call('LPOS', base .. 'active', id) then return 'active' end
  if redis.call('LPOS', base .. 'wait', id) or redis.call('LPOS', base .. 'paused', id) then return 'scheduled' end
  redis.call('DEL', base .. id, base .. id .. ':logs')
  return 'absent'
end
local states = {}
for i = 2, #ARGV do states[i - 1] = stateOf(ARGV[i]) end
return states
`;

/** The states of jobs in Redis, as scripts see them: never in the middle of a move. */
export function redisJobStates(prefix: string, client: () => Promise<Redis>): JobStates {
  return inPortions(async (queue, ids) => {
    const redis = await client();
    return (await redis.eval(STATES, 1, `${prefix}:${queue}`, Date.now() + ASLEEP_MS, ...ids)) as TurnState[];
  });
}

/** Of one row; no worker looks for an active job without the end of its lock, or for a delayed one without its time. */
const ROW_STATE = `CASE
    WHEN state IN ('completed', 'failed') THEN 'finished'
    WHEN state = 'active' AND locked_until_ms IS NOT NULL THEN 'active'
    WHEN state = 'delayed' AND process_at_ms > $3 THEN 'asleep'
    WHEN state = 'waiting' OR (state = 'delayed' AND process_at_ms IS NOT NULL) THEN 'scheduled'
    ELSE 'absent' END`;

const SELECT = `SELECT id, ${ROW_STATE} AS state FROM bullmq.job WHERE queue = $1 AND id = ANY($2::text[])`;
const REMOVE = `DELETE FROM bullmq.job WHERE queue = $1 AND id = ANY($2::text[]) AND ${ROW_STATE} = 'absent'`;

/** As much of a pool of PostgreSQL as is needed here. */
interface Asked {
  query(text: string, params: unknown[]): Promise<{ rows: unknown[] }>;
}

/** The states of jobs in PostgreSQL or PGlite, where each is one row. */
export function sqlJobStates(pool: Asked): JobStates {
  return inPortions(async (queue, ids) => {
    const params = [queue, ids, Date.now() + ASLEEP_MS];
    const rows = (await pool.query(SELECT, params)).rows as { id: string; state: TurnState }[];
    if (rows.some(({ state }) => state === 'absent')) await pool.query(REMOVE, params);
    const states = new Map(rows.map(({ id, state }) => [id, state]));
    return ids.map((id) => states.get(id) ?? 'absent');
  });
}

interface DueJob {
  readonly name: string;
  readonly data: unknown;
  readonly opts: JobsOptions & { readonly jobId: string };
}

/**
 * Adds jobs that are due, under names that never change. One that has a job is left as it is, unless that would not be
 * taken now: a job of a clock that was wrong for a moment may sleep for a day.
 */
export async function addDue(queue: Queue, jobs: readonly DueJob[], statesOf: JobStates): Promise<void> {
  const ids = jobs.map(({ opts }) => opts.jobId);
  const states = await statesOf(queue.name, ids);
  for (const id of ids.filter((_, i) => states[i] === 'asleep')) await queue.remove(id);
  await queue.addBulk([...jobs]);
}

const inPortions =
  (ask: JobStates): JobStates =>
  async (queue, ids) => {
    const states: TurnState[] = [];
    for (let from = 0; from < ids.length; from += JOBS_PER_CALL) {
      states.push(...(await ask(queue, ids.slice(from, from + JOBS_PER_CALL))));
    }
    return states;
  };
