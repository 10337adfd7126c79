import { setTimeout as sleep } from 'node:timers/promises';
import type { Log, TurnState } from '@slowwave/engine';
import { createPostgresBackend, type JobsOptions, type PgPool, Queue, runMigrations, Worker } from 'bullmq';
import type { Pool, PoolClient } from 'pg';
import { inTransaction, openPool, placeOf } from '../postgres/index.ts';
import { newPulse, QUEUE_OPTIONS, type QueueConnection, type SharedWorkerOptions, unavailable } from './connection.ts';
import {
  ASLEEP_MS,
  BEFORE_FIRST,
  FAR_AHEAD,
  inPortions,
  type JobStates,
  type JobsOfLane,
  LAST_ROUND,
  type TurnOrder,
  UNPLACED,
  type Waiting,
} from './jobs.ts';

/** Where the library keeps its tables; a pool of ours has to say so itself. */
const SCHEMA = 'bullmq';
/** Where nobody says how many. Calls take milliseconds; one is taken by each worker, which listens on it for new jobs. */
const CONNECTIONS_MAX = 10;

interface PostgresQueueOptions {
  readonly url: string;
  readonly log: Log;
  /** Most at once. */
  readonly connections?: number;
  /** Over how many queues turns are spread. */
  readonly shards?: number;
}

/** A worker that is closed while it starts may leave its connection behind; every other one is back by then. */
const CLOSE_LIMIT_MS = 1_000;

/** Queues in a PostgreSQL database, beside whatever else it holds. The URL may hold a password; it is in no message. */
export function postgresConnection(options: PostgresQueueOptions): QueueConnection {
  const { url, log, connections = CONNECTIONS_MAX, shards = 1 } = options;
  const place = placeOf(url);
  // A server that crashes may lose the queue's last moments: the sweep finds what is missing in the ledger, and a turn
  // that comes twice finds itself stale. Waiting for the disk would cost most of the queue's speed.
  const pool = openPool({ url, schema: SCHEMA, durable: false, max: connections, log });
  pool.setMaxListeners(0); // every queue and worker listens to it, of which a process may have many
  const connection = pool as unknown as PgPool; // the library describes what it needs of a pool in its own words
  return {
    place,
    pulse: newPulse(),
    shards,
    lockServer: { kind: 'postgres', url },
    ready: () => makeTables(pool, place),
    // The types of queues and workers name their backend; nothing above this line uses what only one of them has.
    openQueue: (name) => new Queue(name, { ...QUEUE_OPTIONS, connection }, addingInOne(pool)) as unknown as Queue,
    openWorker: (name, processor, options) =>
      new Worker(name, processor, { ...options, connection }, byServersClock(pool, options)) as unknown as Worker,
    turnOrder: () => postgresTurnOrder(pool),
    waiting: () => waitingIn(pool),
    jobStates: () => jobStatesIn(pool),
    jobsOfLane: () => jobsOfLaneIn(pool),
    forgetEvents: async ({ name }) => void (await pool.query(FORGET_EVENTS, [name])),
    close: endWith(pool),
  };
}

/**
 * Jobs with ids of ours, each with its place in line. The library's own function makes two tables for each call and drops them again, which
 * takes 8 ms and fills the server's catalogue; it also writes two events a job, which nobody reads.
 */
const ADD_JOBS = `
  WITH added AS (
    INSERT INTO bullmq.job
      (queue, id, seq, name, state, data, opts, priority, delay_ms, max_attempts, added_at_ms, process_at_ms)
    SELECT $1, id, nextval('bullmq.job_seq'), name, (CASE WHEN delay > 0 THEN 'delayed' ELSE 'waiting' END)::bullmq.job_state,
      data::jsonb, opts, priority, delay, attempts, added_at, CASE WHEN delay > 0 THEN added_at + delay END
    FROM (
      SELECT e.* FROM ROWS FROM (jsonb_to_recordset($2::jsonb) AS (
        id text, name text, data text, opts jsonb, priority int, delay bigint, attempts int, added_at bigint
      )) WITH ORDINALITY AS e (id, name, data, opts, priority, delay, attempts, added_at, place) ORDER BY place) AS entries
    ON CONFLICT (queue, id) DO NOTHING RETURNING id),
  told AS (SELECT pg_notify('bullmq_jobs', $1) FROM added LIMIT 1)
  SELECT count(*) FROM told`;

/** The library keeps the failure of its first connection, and every later call fails with it: here the next call connects anew. */
const connectingAnew: typeof createPostgresBackend = (...given) => {
  const backend = createPostgresBackend(...given);
  const { connection } = backend;
  const ready = connection.waitUntilReady.bind(connection);
  connection.waitUntilReady = () =>
    ready().catch((error: unknown) => {
      Reflect.deleteProperty(connection, 'readyPromise');
      throw error;
    });
  return backend;
};

/** A queue whose jobs are added by the statement above. */
const addingInOne =
  (pool: Pool): typeof createPostgresBackend =>
  (name, ...given) => {
    const backend = connectingAnew(name, ...given);
    backend.addJobs = async (entries) => {
      await pool.query(ADD_JOBS, [name, JSON.stringify(entries.map(entryOf))]);
      return entries.map(({ jobId }) => jobId);
    };
    return backend;
  };

type Entry = Parameters<ReturnType<typeof createPostgresBackend>['addJobs']>[0][number];

const entryOf = ({ job, jobId }: Entry) => {
  const { attempts = 1, ...opts } = job.opts as JobsOptions;
  const { delay = opts.delay ?? 0, priority = opts.priority ?? 0 } = job;
  const { name, data, timestamp } = job;
  return { id: jobId, name, data, opts: { ...opts, attempts, delay }, priority, delay, attempts, added_at: timestamp };
};

/** Other processes may have been started with a longer lock. */
const LOCKS_AHEAD = 10;

/**
 * The library writes a new lock by the clock of the host that takes the job. A lock that lasts absurdly long is of a host whose clock is
 * ahead, and that died before it renewed the lock by the server's clock: it lasts as long as any other from now on.
 */
const SHORTEN_LOCKS = `
  WITH clock AS (SELECT (extract(epoch FROM clock_timestamp()) * 1000)::bigint AS now)
  UPDATE bullmq.job SET locked_until_ms = now + $2::bigint FROM clock
  WHERE queue = $1 AND state = 'active' AND locked_until_ms > now + ${LOCKS_AHEAD} * $2::bigint`;

/** Marks every active job, so that nothing else may write to them in the same statement. */
const LOOK_FOR_DEAD = `
  SELECT t.id FROM (SELECT (extract(epoch FROM clock_timestamp()) * 1000)::bigint AS now) AS clock,
    bullmq.move_stalled_jobs_to_wait($1, $2, now, $3) AS t(id)`;

/** Jobs of dead workers are found by the server's clock: by its own, a host whose clock is ahead would take everybody for dead. */
const byServersClock =
  (pool: Pool, { lockDuration, maxStalledCount, stalledInterval }: SharedWorkerOptions): typeof createPostgresBackend =>
  (name, ...given) => {
    const backend = connectingAnew(name, ...given);
    backend.moveStalledJobsToWait = async () => {
      await pool.query(SHORTEN_LOCKS, [name, lockDuration]);
      const { rows } = await pool.query(LOOK_FOR_DEAD, [name, maxStalledCount, stalledInterval]);
      return (rows as { id: string }[]).map(({ id }) => id);
    };
    return backend;
  };

/** Safe when several processes start at once: the library migrates under a lock. */
async function makeTables(pool: Pool, place: string): Promise<void> {
  try {
    const client = await pool.connect();
    try {
      await runMigrations(client, SCHEMA);
      await makeTurnOrderTable(client);
    } finally {
      client.release();
    }
  } catch (error) {
    throw unavailable(place, error);
  }
}

/** Ends a pool, also when somebody does not give a connection back. */
function endWith(pool: Pool): () => Promise<void> {
  const lent = new Set<PoolClient>();
  pool.on('acquire', (client) => lent.add(client));
  pool.on('release', (_, client) => lent.delete(client));
  return async () => {
    const ended = pool.end();
    const late = new AbortController();
    await Promise.race([ended, sleep(CLOSE_LIMIT_MS, null, { signal: late.signal }).catch(() => {})]);
    late.abort();
    for (const client of lent) client.release(true);
    await ended;
  };
}

/** A number that only has to differ from other programs' locks. */
const TABLE_LOCK = 1_402_718_296;

/**
 * One row per tenant with its last round, and one without a tenant with the latest that began. Unlogged: a server that
 * crashes forgets it, and counting begins anew.
 */
const TABLE = `
  CREATE UNLOGGED TABLE IF NOT EXISTS turn_rounds (
    priority text NOT NULL,
    tenant text NOT NULL,
    round bigint NOT NULL,
    PRIMARY KEY (priority, tenant)
  ) WITH (fillfactor = 50)`;

const BEGUN = `coalesce((SELECT round FROM turn_rounds WHERE priority = $1 AND tenant = ''), ${BEFORE_FIRST})`;

const NEXT = `
  INSERT INTO turn_rounds AS t (priority, tenant, round) VALUES ($1, $2, ${BEGUN} + $3::bigint)
  ON CONFLICT (priority, tenant) DO UPDATE SET round = CASE
    WHEN t.round + $3 BETWEEN excluded.round AND excluded.round + ${FAR_AHEAD} THEN t.round + $3
    ELSE excluded.round END
  RETURNING round`;

const BEGIN = `
  INSERT INTO turn_rounds AS t (priority, tenant, round)
  SELECT $1, '', $2::bigint WHERE $2::bigint - ${BEGUN} BETWEEN 1 AND ${FAR_AHEAD}
  ON CONFLICT (priority, tenant) DO UPDATE SET round = greatest(t.round, excluded.round)`;

/** The order of turns that all processes on one PostgreSQL share. */
export function postgresTurnOrder(pool: Pool): TurnOrder {
  const last = async (priority: string, tenant: string, count: number): Promise<number> =>
    Number((await pool.query(NEXT, [priority, tenant, count])).rows[0]?.round);
  return {
    next: async (priority, tenant, count) => {
      const round = await last(priority, tenant, count);
      if (round <= LAST_ROUND) return round - count + 1;
      await pool.query('DELETE FROM turn_rounds WHERE priority = $1', [priority]);
      return (await last(priority, tenant, count)) - count + 1;
    },
    begin: async (priority, round) => {
      await pool.query(BEGIN, [priority, round]);
    },
  };
}

/** Safe when several processes start at once, which `IF NOT EXISTS` alone is not. */
const makeTurnOrderTable = (client: PoolClient): Promise<void> =>
  inTransaction(client, async () => {
    await client.query(`SELECT pg_advisory_xact_lock(${TABLE_LOCK})`);
    await client.query(TABLE);
  });

/** Of one row; no worker looks for an active job without the end of its lock, or for a delayed one without its time. */
const ROW_STATE = `CASE
    WHEN state IN ('completed', 'failed') THEN 'finished'
    WHEN state = 'active' AND locked_until_ms IS NOT NULL THEN 'active'
    WHEN state = 'delayed' AND process_at_ms > $3 THEN 'asleep'
    WHEN state = 'waiting' OR (state = 'delayed' AND process_at_ms IS NOT NULL) THEN 'scheduled'
    ELSE 'absent' END`;

const SELECT = `SELECT id, ${ROW_STATE} AS state FROM bullmq.job WHERE queue = $1 AND id = ANY($2::text[])`;
const REMOVE = `DELETE FROM bullmq.job WHERE queue = $1 AND id = ANY($2::text[]) AND ${ROW_STATE} = 'absent'`;

/** Each job is one row. */
function jobStatesIn(pool: Pool): JobStates {
  return inPortions(async (queue, ids) => {
    const params = [queue, ids, Date.now() + ASLEEP_MS];
    const rows = (await pool.query(SELECT, params)).rows as { id: string; state: TurnState }[];
    if (rows.some(({ state }) => state === 'absent')) await pool.query(REMOVE, params);
    const states = new Map(rows.map(({ id, state }) => [id, state]));
    return ids.map((id) => states.get(id) ?? 'absent');
  });
}

const SELECT_IDS = 'SELECT id FROM bullmq.job WHERE queue = $1 AND (id = $2 OR starts_with(id, $3))';

const jobsOfLaneIn =
  (pool: Pool): JobsOfLane =>
  async (queue, lane) => {
    const { rows } = await pool.query(SELECT_IDS, [queue, lane, `${lane}~`]);
    return (rows as { id: string }[]).map(({ id }) => id);
  };

const UNPLACED_ROWS = `
  SELECT id, data FROM bullmq.job WHERE queue = $1 AND state = 'waiting' AND priority = ${UNPLACED} ORDER BY seq LIMIT $2`;

const PLACE_ROWS = `
  UPDATE bullmq.job j SET priority = p.priority FROM unnest($2::text[], $3::int[]) AS p (id, priority)
  WHERE j.queue = $1 AND j.id = p.id AND j.state = 'waiting' AND j.priority = ${UNPLACED}`;

function waitingIn(pool: Pool): Waiting {
  return {
    unplaced: async (queue, limit) =>
      (await pool.query(UNPLACED_ROWS, [queue, limit])).rows as { id: string; data: unknown }[],
    place: async (queue, placed) => {
      const ids = placed.map(({ id }) => id);
      await pool.query(PLACE_ROWS, [queue, ids, placed.map(({ priority }) => priority)]);
    },
  };
}

/** The library cannot do this on PostgreSQL: its `trimEvents` throws there. The schema is the one it keeps its tables in. */
const FORGET_EVENTS = 'DELETE FROM bullmq.event WHERE queue = $1';
