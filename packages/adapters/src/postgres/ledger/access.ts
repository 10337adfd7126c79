import { setTimeout as sleep } from 'node:timers/promises';
import type { Pool, PoolClient } from 'pg';
import { asLedgerError, isLostRace, isStale, LostConnectionError, ofConnection } from './errors.ts';
import { type Sql, sqlOf } from './sql.ts';

/** A transaction that lost a race is run again so often; each time somebody else went on. */
const RUNS_MAX = 6;
/** The pause before the second run; it doubles, with jitter. */
const PAUSE_MS = 10;

/** How the stores reach the database. Failures are EngineErrors that name the server and never its password. */
export interface Access {
  /** Runs selects, each on a snapshot of its own. */
  read<T>(select: (sql: Sql) => Promise<T>): Promise<T>;
  /** Runs selects on one snapshot. */
  snapshot<T>(select: (sql: Sql) => Promise<T>): Promise<T>;
  /** Runs a change as one transaction, from its start again after a lost race. Resolves when it is on the disk. */
  write<T>(change: (sql: Sql) => Promise<T>): Promise<T>;
}

export function accessOf(pool: Pool, place: string): Access {
  const run = async <T>(use: (client: PoolClient) => Promise<T>): Promise<T> => {
    try {
      return await repeatedly(() => withClient(pool, use));
    } catch (error) {
      throw asLedgerError(error, place);
    }
  };
  return {
    read: (select) => run((client) => select(sqlOf(client))),
    snapshot: (select) =>
      run((client) => transaction(client, 'BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY', select)),
    write: (change) => run((client) => transaction(client, 'BEGIN', change)),
  };
}

async function repeatedly<T>(run: () => Promise<T>): Promise<T> {
  for (let runs = 1; ; ) {
    try {
      return await run();
    } catch (error) {
      if (isStale(error)) continue; // its connection is gone, and a new one knows the new schema
      if (!isLostRace(error) || runs === RUNS_MAX) throw error;
      await sleep(PAUSE_MS * 2 ** runs * Math.random());
      runs += 1;
    }
  }
}

/** Lends a connection. One that failed, or is stale, is not lent again. */
async function withClient<T>(pool: Pool, use: (client: PoolClient) => Promise<T>): Promise<T> {
  const client = await fromConnection(() => pool.connect());
  try {
    const value = await use(client);
    client.release();
    return value;
  } catch (error) {
    client.release(error instanceof LostConnectionError || isStale(error));
    throw error;
  }
}

async function transaction<T>(client: PoolClient, begin: string, work: (sql: Sql) => Promise<T>): Promise<T> {
  await fromConnection(() => client.query(begin));
  try {
    const value = await work(sqlOf(client));
    await fromConnection(() => client.query('COMMIT'));
    return value;
  } catch (error) {
    if (!(error instanceof LostConnectionError)) await fromConnection(() => client.query('ROLLBACK'));
    throw error;
  }
}

async function fromConnection<T>(call: () => Promise<T>): Promise<T> {
  try {
    return await call();
  } catch (error) {
    throw ofConnection(error);
  }
}
