import Database from 'better-sqlite3';
import { addFilterFunctions } from '../../filter-sql/sqlite.ts';

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
export type Params = Readonly<Record<string, Value>>;

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
