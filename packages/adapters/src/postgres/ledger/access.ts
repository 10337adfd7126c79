import { setTimeout as sleep } from 'node:timers/promises';
import type { Compaction } from '@slowwave/engine';
import { EngineError } from '@slowwave/engine/storing';
import type { Pool, PoolClient } from 'pg';
import { ERASING } from '../../ledger/erasures.ts';
import { type Access, type Script, together } from '../../ledger/script.ts';
import {
  asStoreError,
  type DatabaseStore,
  isBroken,
  isLockTimeout,
  isLostRace,
  isRefusal,
  ofConnection,
  ofNoChange,
  UnusedConnectionError,
} from './errors.ts';
import { runScript } from './script.ts';
import { askOf, type Frame, type Sql, sqlOf } from './sql.ts';

/** So often is something run that lost a race or its connection: more than a pool has connections that may be broken. */
const RUNS_MAX = 12;
/** The pause after a first lost race; it doubles, with jitter, up to the longest. */
const PAUSE_MS = 10;
const PAUSE_MAX_MS = 500;

/** What runs statements of this dialect alone. */
export interface Transactions {
  /** Runs selects, each on a snapshot of its own. */
  read<T>(select: (sql: Sql) => Promise<T>): Promise<T>;
  /** Runs selects on one snapshot. */
  snapshot<T>(select: (sql: Sql) => Promise<T>): Promise<T>;
  /** Runs a change as one transaction, from its start again after a race or connection was lost. On the disk when it resolves. */
  write<T>(change: (sql: Sql) => Promise<T>): Promise<T>;
  /** Runs a change of one statement, again after a race was lost. On the disk when it resolves. */
  statement<T>(change: (sql: Sql) => Promise<T>): Promise<T>;
}

/** How the stores of a ledger reach the database. Failures are EngineErrors that name the server and never its password. */
export function accessOf(pool: Pool, place: string): Access & { readonly own: Transactions } {
  const own = transactionsOn(pool, { place, holds: 'ledger' }, { opening: [BEGIN], closing: [COMMIT] });
  const shared = { read: sharedReads(own.read), snapshot: sharedReads(own.snapshot) };
  return {
    read: ({ script, atOnce, reach }, input) => {
      const kind = atOnce ? 'snapshot' : 'read';
      if (reach === 'lookup' || reach === 'few') return shared[kind](() => script(input));
      return own[kind]((sql) => runScript(plannedAnew(sql), script(input)));
    },
    write: ({ script, isStatement }, input) =>
      isStatement
        ? own.statement((sql) => runScript(sql, script(input)))
        : own.write((sql) => runScript(sql, script(input))),
    own,
  };
}

/** How many rows these find depends on what is in their parameters. */
const plannedAnew = (sql: Sql): Sql => ({
  ...sql,
  ask: async (asks) => (await sql.ask([PLANNED_ANEW, ...asks])).slice(1),
  askLast: async (asks) => (await sql.askLast([PLANNED_ANEW, ...asks])).slice(1),
});

const PLANNED_ANEW = askOf("SELECT set_config('plan_cache_mode', 'auto', true)");

export function transactionsOn(pool: Pool, store: DatabaseStore, changing = CHANGING): Transactions {
  const run = async <T>(use: (client: PoolClient) => Promise<T>): Promise<T> => {
    try {
      return await repeatedly(() => withClient(pool, use));
    } catch (error) {
      throw asStoreError(error, store);
    }
  };
  const readOnly = <T>(use: (client: PoolClient) => Promise<T>): Promise<T> =>
    run((client) => use(client).catch((error: unknown) => Promise.reject(ofNoChange(error))));
  return {
    read: (select) => readOnly((client) => select(sqlOf(client))),
    snapshot: (select) => readOnly((client) => onSnapshot(client, select)),
    write: (change) => run((client) => transaction(client, changing, change)),
    statement: (change) => run((client) => change(sqlOf(client))),
  };
}

const SNAPSHOT = askOf('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY');
const BEGIN = askOf('BEGIN');
/** A change finds its rows by their keys, whatever is in its parameters. Connections of the ledger begin with it (open.ts). */
const PLANNED_ONCE = askOf('SET LOCAL plan_cache_mode = force_generic_plan');
const COMMIT = askOf('COMMIT');
const CHANGING: Frame = { opening: [BEGIN, PLANNED_ONCE], closing: [COMMIT] };
const READING: Frame = { opening: [SNAPSHOT], closing: [COMMIT] };
const ROLLBACK = askOf('ROLLBACK');

async function repeatedly<T>(run: () => Promise<T>): Promise<T> {
  for (let runs = 1; ; runs += 1) {
    try {
      return await run();
    } catch (error) {
      const unused = error instanceof UnusedConnectionError;
      if (runs === RUNS_MAX || !(unused || isLostRace(error))) throw error;
      if (!unused) await sleep(Math.min(PAUSE_MS * 2 ** runs, PAUSE_MAX_MS) * Math.random());
    }
  }
}

/** Lends a connection. A broken one is not lent again. */
async function withClient<T>(pool: Pool, use: (client: PoolClient) => Promise<T>): Promise<T> {
  const client = await fromConnection(() => pool.connect());
  try {
    const value = await use(client);
    client.release();
    return value;
  } catch (error) {
    client.release(error instanceof UnusedConnectionError || isBroken(error));
    throw error;
  }
}

/**
 * The BEGIN goes along with the first statements, and often the COMMIT with the last: were one of them to fail, the server would carry
 * out none behind it. Only a connection that breaks while the COMMIT is under way leaves open what became of the transaction.
 */
async function transaction<T>(client: PoolClient, frame: Frame, work: (sql: Sql) => Promise<T>): Promise<T> {
  const sql = sqlOf(client, frame);
  return orRolledBack(client, sql, async () => {
    const value = await work(sql);
    if (!sql.isEnding()) await sql.askLast([]);
    return value;
  });
}

/** Nobody waits for the end of what changes nothing: whatever else is asked over the connection stands behind it. */
async function onSnapshot<T>(client: PoolClient, select: (sql: Sql) => Promise<T>): Promise<T> {
  const sql = sqlOf(client, READING);
  return orRolledBack(client, sql, async () => {
    const value = await select(sql);
    if (!sql.isEnding()) sql.askLast([]).catch(() => {}); // of a broken connection, as the next one to use it finds
    return value;
  });
}

async function orRolledBack<T>(client: PoolClient, sql: Sql, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!isBroken(error)) await sqlOf(client).ask([ROLLBACK]);
    throw sql.isEnding() ? error : ofNoChange(error);
  }
}

async function fromConnection<T>(call: () => Promise<T>): Promise<T> {
  try {
    return await call();
  } catch (error) {
    throw ofConnection(error);
  }
}

/** Reads that share a transaction: each waits for all of them. */
const TOGETHER_MAX = 16;

interface Waiting {
  /** The script from its beginning. */
  begin(): Script<unknown>;
  resolve(value: unknown): void;
  reject(error: unknown): void;
}

/**
 * Reads of few rows that are asked in the same turn of the event loop go to the server in one piece, as one transaction: what several
 * lanes of a worker ask at once, and what its sweeps ask each second. Each statement sees what was committed before it, as it does alone;
 * snapshots see the moment at which the first of their statements runs, when all of them are asked.
 */
function sharedReads(read: Transactions['read']): <T>(begin: () => Script<T>) => Promise<T> {
  let waiting: Waiting[] = [];
  const send = (): void => {
    const all = waiting;
    waiting = [];
    for (let at = 0; at < all.length; at += TOGETHER_MAX) void readTogether(read, all.slice(at, at + TOGETHER_MAX));
  };
  return <T>(begin: () => Script<T>) => {
    const { promise, resolve, reject } = Promise.withResolvers<T>();
    if (waiting.length === 0) setImmediate(send);
    waiting.push({ begin, resolve: resolve as Waiting['resolve'], reject });
    return promise;
  };
}

/** Where one of several fails each is read alone, so that it fails nobody else; a server that is away, it is for all of them. */
async function readTogether(read: Transactions['read'], group: readonly Waiting[]): Promise<void> {
  try {
    const found = await read((sql) => runScript(sql, together(...group.map(({ begin }) => begin()))));
    for (const [i, { resolve }] of group.entries()) resolve(found[i]);
  } catch (error) {
    const isForAll = group.length === 1 || (error instanceof EngineError && error.code === 'ledger_unavailable');
    if (isForAll) for (const { reject } of group) reject(error);
    else await Promise.all(group.map((one) => readTogether(read, [one])));
  }
}

/**
 * Above this, with its indexes, a table is not rewritten at once: nobody else can use it meanwhile, and it has to be over
 * well within the limit of a statement.
 */
const REWRITE_MAX_BYTES = 64 * 2 ** 20;
/** While a rewrite waits for others, everybody after them waits for it. */
const PATIENCE_MS = 1_000;

/** Every table of the ledger that names an owner or holds what it said. */
const TABLES_OF_LEDGER = [
  ...new Set([
    ...ERASING.flatMap(({ deletes }) => deletes.map(([table]) => table)),
    'lanes',
    'erasures',
    'replays',
    'api_keys',
    'topics',
    'trail',
  ]),
];

/** Rewrites tables that rows were deleted from, so that none of them is left in a page; then the log may go on. */
export async function compactDatabase({ read }: Transactions, tables = TABLES_OF_LEDGER): Promise<Compaction> {
  return read(async (sql) => {
    await sql.run(`SET lock_timeout = ${PATIENCE_MS}`);
    try {
      const tooLarge: string[] = [];
      for (const table of tables) if (!(await rewrite(sql, table))) tooLarge.push(table);
      await checkpoint(sql);
      return { done: true, remains: [...tooLarge.map(leftIn), LOG] };
    } catch (error) {
      if (isLockTimeout(error)) return { done: false, remains: [] };
      throw error;
    } finally {
      await sql.run('RESET lock_timeout');
    }
  });
}

async function rewrite(sql: Sql, table: string): Promise<boolean> {
  const size = await sql.get<{ bytes: number }>('SELECT pg_total_relation_size(@table::regclass) AS bytes', { table });
  if ((size?.bytes ?? 0) > REWRITE_MAX_BYTES) return false;
  await sql.run(`VACUUM (FULL) ${table}`);
  return true;
}

/** Only some users may; for the others the server does it by itself within minutes. */
async function checkpoint(sql: Sql): Promise<void> {
  await sql.run('CHECKPOINT').catch((error: unknown) => {
    if (!isRefusal(error)) throw error;
  });
}

const leftIn = (table: string): string =>
  `PostgreSQL: free space inside the pages of ${table}, until it is overwritten or rewritten with VACUUM (FULL)`;

const LOG =
  'PostgreSQL: segments of the write-ahead log until the server has overwritten or removed them, archived ones, and replicas';
