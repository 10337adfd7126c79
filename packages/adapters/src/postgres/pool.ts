import type { Log } from '@slowwave/engine';
import { EngineError } from '@slowwave/engine/storing';
import { type CustomTypesConfig, Pool, type PoolClient } from 'pg';

/** From asking for a connection to having one: making it, or waiting for one of the pool's. */
const CONNECT_LIMIT_MS = 10_000;
/** Our statements take milliseconds; one that takes this long is stuck, or reads what it should not. */
const STATEMENT_LIMIT_MS = 30_000;
/** Longer than the server's own limit: only a server that froze, or a network that lost the answer, gets here. */
const ANSWER_LIMIT_MS = 40_000;
/** Locks are held for milliseconds; whoever holds one this long is not going to let go soon. */
const LOCK_LIMIT_MS = 15_000;
/** A process that froze inside a transaction must not hold its locks for ever. */
const IDLE_TRANSACTION_LIMIT_MS = 30_000;
/**
 * Of reading a page in its turn, and one that an index leads to, beside handling a row of it (.01): what is asked for has just been
 * written, so that it lies in memory, and every statement is meant to find its rows by an index. At the server's own 1 and 4 a young
 * ledger is read from end to end, by a plan that is then kept while it grows.
 */
const SEQ_PAGE_COST = 0.1;
const RANDOM_PAGE_COST = 0.11;
/** Unused connections are given back to a server that has few. */
const IDLE_LIMIT_MS = 30_000;

interface PoolOptions {
  readonly url: string;
  /** What unqualified names mean. */
  readonly schema: string;
  /** Whether a commit waits for the disk, whatever the server or the role does by default. True unless said otherwise. */
  readonly durable?: boolean;
  /** Most connections at once. */
  readonly max: number;
  readonly log: Pick<Log, 'warn'>;
  readonly types?: CustomTypesConfig;
  /** Settings of the server that these connections begin with, too. */
  readonly settings?: Readonly<Record<string, string>>;
}

/** Connections to a PostgreSQL server. Nothing is connected before the first use. */
export function openPool({ url, schema, durable = true, max, log, types, settings }: PoolOptions): Pool {
  const place = placeOf(url);
  const { connectionString, options } = withSettings(url, {
    search_path: schema,
    synchronous_commit: durable ? 'on' : 'off',
    statement_timeout: STATEMENT_LIMIT_MS,
    lock_timeout: LOCK_LIMIT_MS,
    idle_in_transaction_session_timeout: IDLE_TRANSACTION_LIMIT_MS,
    seq_page_cost: SEQ_PAGE_COST,
    random_page_cost: RANDOM_PAGE_COST,
    jit: 'off', // compiling a statement of milliseconds takes longer than running it
    ...settings,
  });
  const pool = new Pool({
    connectionString,
    options,
    max,
    application_name: 'slowwave',
    keepAlive: true,
    connectionTimeoutMillis: CONNECT_LIMIT_MS,
    idleTimeoutMillis: IDLE_LIMIT_MS,
    query_timeout: ANSWER_LIMIT_MS,
    pipeline: true, // statements that do not need each other's rows are sent without waiting
    ...(types === undefined ? {} : { types }),
  });
  // An idle connection that breaks is replaced at the next use; without a listener it would end the process.
  pool.on('error', (error) => log.warn({ place, error: error.message }, 'an idle database connection broke'));
  // One that breaks in use fails its next statement; without a listener it would end the process before.
  pool.on('connect', (client) => client.on('error', () => {}));
  return pool;
}

/** All that is done with a connection, or nothing of it. */
export async function inTransaction(client: PoolClient, work: () => Promise<unknown>): Promise<void> {
  await client.query('BEGIN');
  try {
    await work();
    await client.query('COMMIT');
  } catch (error) {
    await client.query('ROLLBACK').catch(() => {}); // a lost connection has rolled back by itself
    throw error;
  }
}

/** The server and database of a URL, without user, password and settings. */
export function placeOf(url: string): string {
  const parsed = URL.parse(url);
  if (parsed === null || !['postgres:', 'postgresql:'].includes(parsed.protocol)) {
    throw new EngineError(
      'expected the database URL to look like postgres://user:password@host:5432/database, got something else; ' +
        'correct DATABASE_URL',
      { code: 'ledger_unavailable', retryable: false },
    );
  }
  const host = parsed.hostname || (parsed.searchParams.get('host') ?? 'localhost');
  return `postgres://${host}:${parsed.port || '5432'}${parsed.pathname}`;
}

/** The settings a connection begins with; those of the URL come first, so that ours hold. */
function withSettings(
  url: string,
  settings: Readonly<Record<string, string | number>>,
): { connectionString: string; options: string } {
  const parsed = new URL(url);
  const given = parsed.searchParams.get('options');
  parsed.searchParams.delete('options');
  const ours = Object.entries(settings).map(([name, value]) => `-c ${name}=${value}`);
  return { connectionString: parsed.href, options: [...(given === null ? [] : [given]), ...ours].join(' ') };
}
