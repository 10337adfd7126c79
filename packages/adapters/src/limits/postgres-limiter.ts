import { createHash } from 'node:crypto';
import { EngineError, type Limiter, type Log, type ModelLimits } from '@slowwave/engine';
import type { Pool, PoolClient } from 'pg';
import { openPool } from '../postgres/index.ts';
import { type Account, correctIn, NEW_ACCOUNT, pauseIn, reserveIn } from './memory-limiter.ts';

const SCHEMA = 'slowwave_limits';
/** Transactions take a few milliseconds, and those of one model wait for each other anyway. */
const CONNECTIONS_MAX = 4;
/** The first half of every lock's name: a number that only has to differ from other programs'. */
const LOCKS = 1_402_718_296;

/** Counts are of the last minute: a server that crashed may forget them, and nothing waits for its disk. */
const MAKE_TABLE = `
  SELECT pg_advisory_xact_lock(${LOCKS}, 0);
  CREATE SCHEMA IF NOT EXISTS ${SCHEMA};
  CREATE UNLOGGED TABLE IF NOT EXISTS ${SCHEMA}.accounts (model text PRIMARY KEY, account jsonb NOT NULL)`;

/** By the clock of the server, which all workers share. */
const READ = `
  SELECT floor(extract(epoch FROM clock_timestamp()) * 1000)::float8 AS now,
    (SELECT account FROM accounts WHERE model = $1) AS account`;

const WRITE = `
  INSERT INTO accounts (model, account) VALUES ($1, $2)
  ON CONFLICT (model) DO UPDATE SET account = excluded.account`;

/** What is read of a model, and what is made of it. */
type Step<T> = (account: Account, now: number) => { readonly account: Account; readonly answer: T };

/** A limiter that all workers on one PostgreSQL share. Server away: no room, for nobody can say how much there is. */
export function postgresLimiter(
  { url, log, connections = CONNECTIONS_MAX }: { url: string; log: Log; connections?: number },
  limits: ModelLimits,
): Limiter {
  const pool = openPool({ url, schema: SCHEMA, max: connections, durable: false, log });
  const unlimited = limits.requestsPerMinute === null && limits.tokensPerMinute === null;
  let made: Promise<void> | null = null;
  const ready = (): Promise<void> => {
    made ??= makeTable(pool).catch((error) => {
      made = null; // the next call tries again
      throw error;
    });
    return made;
  };
  const run = async <T>(work: () => Promise<T>): Promise<T> => {
    try {
      await ready();
      return await work();
    } catch (cause) {
      throw uncounted(cause);
    }
  };
  const change = <T>(model: string, step: Step<T>): Promise<T> => run(() => changed(pool, model, step));
  return {
    reserve: async (model, tokens) => {
      const step: Step<ReturnType<typeof reserveIn>['answer']> = (account, now) =>
        reserveIn(account, limits, { now, tokens: Math.ceil(tokens) });
      return unlimited ? run(async () => looked(pool, model, step)) : change(model, step);
    },
    correct: async (model, id, tokens) => {
      if (unlimited) return;
      await change(model, (account) => ({ account: correctIn(account, id, Math.ceil(tokens)), answer: null }));
    },
    pause: async (model, ms) => {
      await change(model, (account, now) => ({ account: pauseIn(account, now + ms), answer: null }));
    },
    close: () => pool.end(),
  };
}

/** Safe when several processes start at once: one makes it, the others wait. */
async function makeTable(pool: Pool): Promise<void> {
  await pool.query(MAKE_TABLE); // several statements in one query are one transaction
}

/** One after the other for all who change the same model. */
async function changed<T>(pool: Pool, model: string, step: Step<T>): Promise<T> {
  const client = await pool.connect();
  try {
    await client.query(`BEGIN; SELECT pg_advisory_xact_lock(${LOCKS}, ${lockOf(model)})`);
    const { account, now } = await read(client, model);
    const next = step(account, now);
    await client.query(WRITE, [model, JSON.stringify(next.account)]);
    await client.query('COMMIT');
    client.release();
    return next.answer;
  } catch (error) {
    client.release(true); // whatever state the connection is in, nobody meets it
    throw error;
  }
}

/** Without limits only a pause matters, and nothing is written. */
async function looked<T>(pool: Pool, model: string, step: Step<T>): Promise<T> {
  const { account, now } = await read(pool, model);
  return step(account, now).answer;
}

async function read(client: Pool | PoolClient, model: string): Promise<{ account: Account; now: number }> {
  const { rows } = await client.query<{ now: number; account: Account | null }>(READ, [model]);
  const [row] = rows;
  if (row === undefined) throw new Error('a query for one row always has one');
  return { account: row.account ?? NEW_ACCOUNT, now: row.now };
}

/** Two models with one lock only wait for each other. 0 is the lock of the table's making. */
const lockOf = (model: string): number => createHash('sha256').update(model).digest().readUInt32LE(0) >>> 1 || 1;

const uncounted = (cause: unknown): EngineError =>
  new EngineError('expected PostgreSQL to count the model call, got no answer; work waits until PostgreSQL is back', {
    code: 'queue_unavailable',
    retryable: true,
    countsAsTry: false,
    cause,
  });
