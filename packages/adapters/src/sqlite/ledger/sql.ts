import Database from 'better-sqlite3';
import { addFilterFunctions } from '../../filter-sql/sqlite.ts';
import {
  type Given,
  madeOfColumns,
  madeOnce,
  type RowsStep,
  type Script,
  type Step,
  toSqlite,
} from '../../ledger/script.ts';

/** How long a connection waits for another process's transaction; ours last milliseconds, so this is a broken peer. */
export const BUSY_TIMEOUT_MS = 5_000;

/** What a connection that writes keeps of the file: the ends of as many lanes as speak at a time. */
const WRITE_CACHE_KIB = 32 * 1024;
/**
 * So many pages of the log, 16 MB, are carried over into the file at a time. Pages that change again and again are
 * carried over once; a longer log would be slower to read and to recover.
 */
const CHECKPOINT_PAGES = 4_000;

export type Value = string | number | null | Buffer;
type Params = Readonly<Record<string, Value>>;

/** One connection, with every statement prepared once. */
export interface Sql {
  readonly db: Database.Database;
  get<Row>(text: string, params?: Params): Row | null;
  all<Row>(text: string, params?: Params): Row[];
  /** Like `all`, of a statement that is as a caller's filter is: it is not kept. */
  once<Row>(text: string, params?: Params): Row[];
  /** How many rows changed. Values in the order of their question marks cost half as much as values by name. */
  run(text: string, params?: Params | readonly Value[]): number;
}

/** A connection that writes. WAL: readers never wait; FULL: a commit is on the disk when it returns. */
export function connectToWrite(path: string): Sql {
  const db = new Database(path, { timeout: BUSY_TIMEOUT_MS });
  enableWal(db);
  db.pragma('synchronous = FULL');
  db.pragma('foreign_keys = ON');
  db.pragma(`cache_size = -${WRITE_CACHE_KIB}`);
  db.pragma(`wal_autocheckpoint = ${CHECKPOINT_PAGES}`);
  db.pragma('secure_delete = ON'); // what is deleted is zeroed, so that little is left for an erasure to rewrite
  return sqlOf(db);
}

/** A connection that only reads, on a file that exists. */
export function connectToRead(path: string, { readOnlyFile }: { readOnlyFile: boolean }): Sql {
  const db = new Database(path, { timeout: BUSY_TIMEOUT_MS, fileMustExist: true, readonly: readOnlyFile });
  db.pragma('query_only = ON');
  return sqlOf(db);
}

/**
 * Begins a transaction that writes, once no other process does. Asks every millisecond: SQLite's own waiting grows to
 * 100 ms a time, and a process that writes without end would nearly always be inside a transaction when it asks.
 */
export function beginToWrite(sql: Sql): void {
  sql.db.pragma('busy_timeout = 0');
  try {
    untilFree(() => sql.run('BEGIN IMMEDIATE'));
  } finally {
    sql.db.pragma(`busy_timeout = ${BUSY_TIMEOUT_MS}`);
  }
}

export function sqlOf(db: Database.Database): Sql {
  let filtered = false;
  const prepared = new Map<string, Database.Statement<[Params | readonly Value[]]>>();
  const statement = (text: string): Database.Statement<[Params | readonly Value[]]> => {
    const known = prepared.get(text);
    if (known !== undefined) return known;
    const made = db.prepare<[Params | readonly Value[]]>(text);
    prepared.set(text, made);
    return made;
  };
  return {
    db,
    get: <Row>(text: string, params: Params = {}) => (statement(text).get(params) as Row | undefined) ?? null,
    all: <Row>(text: string, params: Params = {}) => statement(text).all(params) as Row[],
    once: <Row>(text: string, params: Params = {}) => {
      if (!filtered) addFilterFunctions(db);
      filtered = true;
      return db.prepare<[Params]>(text).all(params) as Row[];
    },
    run: (text, params = {}) => statement(text).run(params).changes,
  };
}

/** SQLite does not wait for others while it changes the journal mode of a new file, so this does. */
function enableWal(db: Database.Database): void {
  untilFree(() => db.pragma('journal_mode = WAL'));
}

/** Shorter than the pause between two groups of a busy process, so that the next one is not missed. */
const RETRY_PAUSE_MS = 1;

/** Tries again while another process holds the file, up to the busy timeout. Blocks its thread. */
function untilFree(run: () => void): void {
  const deadline = performance.now() + BUSY_TIMEOUT_MS;
  for (;;) {
    try {
      run();
      return;
    } catch (error) {
      const busy = error instanceof Database.SqliteError && error.code.startsWith('SQLITE_BUSY');
      if (!busy || performance.now() > deadline) throw error;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, RETRY_PAUSE_MS);
    }
  }
}

/** Runs scripts that only read, each on a snapshot of its own. */
export function snapshotsOf(sql: Sql): <T>(script: Script<T>) => T {
  const snapshot = sql.db.transaction((script: Script<unknown>) => runScript(sql, script));
  return <T>(script: Script<T>) => snapshot(script) as T;
}

/** Runs a script to its end, inside the transaction that is open. */
export function runScript<T>(sql: Sql, script: Script<T>): T {
  let step = script.next();
  while (step.done !== true) step = script.next(answer(sql, step.value));
  return step.value;
}

function answer(sql: Sql, step: Step): unknown {
  switch (step.kind) {
    case 'all':
      return sql.all(statements.of(step.text), bound(step.given));
    case 'once':
      return sql.once(toSqlite(step.text), bound(step.given));
    case 'run':
      return sql.run(statements.of(step.text), bound(step.given));
    case 'insert':
    case 'update':
      return eachRow(sql, ofRows(step), step);
    case 'together':
      return step.steps.map((one) => answer(sql, one));
    case 'inOne': {
      const { held, steps } = step;
      if (held !== null && sql.all(statements.of(held.text), bound(held.given)).length === 0) return false;
      for (const one of steps) answer(sql, one);
      return true;
    }
  }
}

/** Row by row with values by place, which costs less than a statement that reads them out of a list. */
function eachRow(sql: Sql, { text, columns }: RowStatement, { rows }: RowsStep): number {
  let changed = 0;
  for (const row of rows)
    changed += sql.run(
      text,
      columns.map((column) => row[column] as Value),
    );
  return changed;
}

/** Lists and tables travel as JSON. */
function bound(given: Given): Params {
  let lists: Record<string, Value> | null = null;
  for (const name in given) {
    if (!Array.isArray(given[name])) continue;
    lists ??= { ...(given as Params) };
    lists[name] = JSON.stringify(given[name]);
  }
  return lists ?? (given as Params);
}

interface RowStatement {
  readonly text: string;
  readonly columns: readonly string[];
}

function rowStatement({ kind, table, onConflict }: RowsStep, columns: readonly string[]): RowStatement {
  if (kind === 'insert') {
    const places = columns.map(() => '?').join(', ');
    const text = `INSERT INTO ${table} (${columns.join(', ')}) VALUES (${places}) ${toSqlite(onConflict)}`;
    return { columns, text };
  }
  const changing = columns.filter((column) => column !== 'id');
  const text = `UPDATE ${table} SET ${changing.map((column) => `${column} = ?`).join(', ')} WHERE id = ?`;
  return { columns: [...changing, 'id'], text };
}

const statements = madeOnce(toSqlite);
const ofRows = madeOfColumns(rowStatement);
