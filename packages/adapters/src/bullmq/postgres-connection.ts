import { setTimeout as sleep } from 'node:timers/promises';
import type { Log } from '@slowwave/engine';
import { createPostgresBackend, type PgPool, Queue, runMigrations, Worker } from 'bullmq';
import type { Pool, PoolClient } from 'pg';
import { openPool, placeOf } from '../postgres/index.ts';
import { QUEUE_OPTIONS, type QueueConnection } from './connection.ts';
import { FORGET_EVENTS } from './forget-events.ts';
import { sqlJobStates } from './job-states.ts';
import { sqlJobsOfLane } from './jobs-of-lane.ts';
import { sqlWaiting } from './order/placing.ts';
import { makeTurnOrderTable, postgresTurnOrder } from './order/postgres-turn-order.ts';
import { newPulse, unavailable } from './unavailable.ts';

/** Where the library keeps its tables; a pool of ours has to say so itself. */
const SCHEMA = 'bullmq';
/** Where nobody says how many. Calls take milliseconds; one is taken by each worker, which listens on it for new jobs. */
const CONNECTIONS_MAX = 10;

export interface PostgresQueueOptions {
  readonly url: string;
  readonly log: Log;
  /** Most at once. */
  readonly connections?: number;
}
/** A worker that is closed while it starts may leave its connection behind; every other one is back by then. */
const CLOSE_LIMIT_MS = 1_000;

/** Queues in a PostgreSQL database, beside whatever else it holds. The URL may hold a password; it is in no message. */
export function postgresConnection({ url, log, connections = CONNECTIONS_MAX }: PostgresQueueOptions): QueueConnection {
  const place = placeOf(url);
  // A server that crashes may lose the queue's last moments: the sweep finds what is missing in the ledger, and a turn
  // that comes twice finds itself stale. Waiting for the disk would cost most of the queue's speed.
  const pool = openPool({ url, schema: SCHEMA, durable: false, max: connections, log });
  pool.setMaxListeners(0); // every queue and worker listens to it, of which a process may have many
  const connection = pool as unknown as PgPool; // the library describes what it needs of a pool in its own words
  return {
    place,
    pulse: newPulse(),
    ready: () => makeTables(pool, place),
    // The types of queues and workers name their backend; nothing above this line uses what only one of them has.
    openQueue: (name) => new Queue(name, { ...QUEUE_OPTIONS, connection }, createPostgresBackend) as unknown as Queue,
    openWorker: (name, processor, options) =>
      new Worker(name, processor, { ...options, connection }, createPostgresBackend) as unknown as Worker,
    turnOrder: () => postgresTurnOrder(pool),
    waiting: () => sqlWaiting(pool),
    jobStates: () => sqlJobStates(pool),
    jobsOfLane: () => sqlJobsOfLane(pool),
    forgetEvents: async ({ name }) => void (await pool.query(FORGET_EVENTS, [name])),
    close: endWith(pool),
  };
}

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
