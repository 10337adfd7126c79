import Database from 'better-sqlite3';

/** How long a connection waits for another process's transaction; ours last milliseconds, so this is a broken peer. */
const BUSY_TIMEOUT_MS = 5_000;

export type Params = Readonly<Record<string, string | number | null | Buffer>>;

/** One connection, with every statement prepared once. */
export interface Sql {
  readonly db: Database.Database;
  get<Row>(text: string, params?: Params): Row | null;
  all<Row>(text: string, params?: Params): Row[];
  /** How many rows changed. */
  run(text: string, params?: Params): number;
}

/** A connection that writes. WAL: readers never wait; FULL: a commit is on the disk when it returns. */
export function connectToWrite(path: string): Sql {
  const db = new Database(path, { timeout: BUSY_TIMEOUT_MS });
  enableWal(db);
  db.pragma('synchronous = FULL');
  db.pragma('foreign_keys = ON');
  return sqlOf(db);
}

/** A connection that only reads, on a file that exists. */
export function connectToRead(path: string, { readOnlyFile }: { readOnlyFile: boolean }): Sql {
  const db = new Database(path, { timeout: BUSY_TIMEOUT_MS, fileMustExist: true, readonly: readOnlyFile });
  db.pragma('query_only = ON');
  return sqlOf(db);
}

export function sqlOf(db: Database.Database): Sql {
  const prepared = new Map<string, Database.Statement<[Params]>>();
  const statement = (text: string): Database.Statement<[Params]> => {
    const known = prepared.get(text);
    if (known !== undefined) return known;
    const made = db.prepare<[Params]>(text);
    prepared.set(text, made);
    return made;
  };
  return {
    db,
    get: <Row>(text: string, params: Params = {}) => (statement(text).get(params) as Row | undefined) ?? null,
    all: <Row>(text: string, params: Params = {}) => statement(text).all(params) as Row[],
    run: (text, params = {}) => statement(text).run(params).changes,
  };
}

const WAL_TRIES = 100;
const WAL_PAUSE_MS = 50; // × tries = the busy timeout

/** SQLite does not wait for others while it changes the journal mode of a new file, so this does. Blocks its thread. */
function enableWal(db: Database.Database): void {
  for (let tries = 1; ; tries += 1) {
    try {
      db.pragma('journal_mode = WAL');
      return;
    } catch (error) {
      const busy = error instanceof Database.SqliteError && error.code.startsWith('SQLITE_BUSY');
      if (!busy || tries === WAL_TRIES) throw error;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, WAL_PAUSE_MS);
    }
  }
}
