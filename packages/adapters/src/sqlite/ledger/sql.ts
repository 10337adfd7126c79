import Database from 'better-sqlite3';
import { addFilterFunctions } from '../../filter-sql/sqlite.ts';
import { type Given, type Row, type RowsStep, type Script, type Step, toSqlite } from '../../ledger/script.ts';

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
  /** A statement that is prepared once, for who keeps it. */
  kept(text: string): Database.Statement<[Params | readonly Value[]]>;
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
    kept: statement,
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

/** Inserts rows inside the transaction that is open, as a script does. Returns how many. */
export const insertRows = (sql: Sql, table: string, rows: readonly Row[]): number =>
  eachRow(ofRows(keptOf(sql), { kind: 'insert', table, rows, onConflict: '' }), rows);

/** Runs a script to its end, inside the transaction that is open. */
export function runScript<T>(sql: Sql, script: Script<T>): T {
  const kept = keptOf(sql);
  let step = script.next();
  while (step.done !== true) step = script.next(answer(kept, step.value));
  return step.value;
}

type Statement = Database.Statement<[Params | readonly Value[]]>;

/** What a connection keeps of the steps it has run: each costs one look beside its statement. */
interface Kept {
  readonly sql: Sql;
  readonly statements: Map<string, OfText>;
  /** By their tables. */
  readonly inserts: Map<string, OfRows>;
  readonly updates: Map<string, OfRows>;
}

const connections = new WeakMap<Sql, Kept>();

function keptOf(sql: Sql): Kept {
  const known = connections.get(sql);
  if (known !== undefined) return known;
  const kept: Kept = { sql, statements: new Map(), inserts: new Map(), updates: new Map() };
  connections.set(sql, kept);
  return kept;
}

function answer(kept: Kept, step: Step): unknown {
  switch (step.kind) {
    case 'all':
      return allOf(kept, step);
    case 'once':
      return kept.sql.once(toSqlite(step.text), byName(step.given));
    case 'run': {
      const known = ofText(kept, step.text);
      return known.statement.run(byPlace(step.given, known)).changes;
    }
    case 'insert':
    case 'update':
      return eachRow(ofRows(kept, step), step.rows);
    case 'together':
      return step.steps.map((one) => answer(kept, one));
    case 'inOne': {
      const { held, steps } = step;
      if (held !== null && allOf(kept, held).length === 0) return false;
      for (const one of steps) answer(kept, one);
      return true;
    }
  }
}

interface Asked {
  readonly text: string;
  readonly given: Given;
}

function allOf(kept: Kept, { text, given }: Asked): readonly unknown[] {
  const known = ofText(kept, text);
  return known.statement.all(byPlace(given, known));
}

/** A statement with a question mark for each value: given by their names they would cost twice as much. */
interface OfText {
  readonly statement: Statement;
  /** In the order of the question marks. */
  readonly names: readonly string[];
  /** Those of one run, until the next. */
  readonly values: Value[];
}

function ofText({ sql, statements }: Kept, text: string): OfText {
  const known = statements.get(text);
  if (known !== undefined) return known;
  const names: string[] = [];
  const marked = toSqlite(text).replace(/'[^']*'|@([a-z]\w*)/gi, (found, name?: string) => {
    if (name === undefined) return found; // in quotes
    names.push(name);
    return '?';
  });
  const made = { statement: sql.kept(marked), names, values: [] };
  statements.set(text, made);
  return made;
}

function byPlace(given: Given, { names, values }: OfText): readonly Value[] {
  for (let place = 0; place < names.length; place += 1) values[place] = valueNamed(names[place] ?? '', given);
  return values;
}

const byName = (given: Given): Params =>
  Object.fromEntries(Object.keys(given).map((name) => [name, valueNamed(name, given)]));

/** Lists and tables travel as JSON. */
function valueNamed(name: string, given: Given): Value {
  const value = given[name];
  if (value === undefined) throw new Error(`the statement needs a parameter named ${name}, and got none`);
  return Array.isArray(value) ? JSON.stringify(value) : (value as Value);
}

/** A statement for rows with these columns, with values by place: that costs less than to read them out of a list. */
interface OfRows {
  readonly statement: Statement;
  readonly onConflict: string;
  /** As the rows have them. */
  readonly columns: readonly string[];
  /** In the order of the places. */
  readonly places: readonly string[];
  /** One row's, until the next. */
  readonly values: Value[];
}

function ofRows(kept: Kept, step: RowsStep): OfRows {
  const tables = step.kind === 'insert' ? kept.inserts : kept.updates;
  const known = tables.get(step.table);
  const row = step.rows[0] ?? {};
  if (known !== undefined && known.onConflict === step.onConflict && hasColumns(row, known.columns)) return known;
  const made = madeOfRows(kept.sql, step, Object.keys(row));
  tables.set(step.table, made);
  return made;
}

function madeOfRows(sql: Sql, { kind, table, onConflict }: RowsStep, columns: readonly string[]): OfRows {
  if (kind === 'insert') {
    const marks = columns.map(() => '?').join(', ');
    const text = `INSERT INTO ${table} (${columns.join(', ')}) VALUES (${marks}) ${toSqlite(onConflict)}`;
    return { statement: sql.kept(text), onConflict, columns, places: columns, values: [] };
  }
  const changing = columns.filter((column) => column !== 'id');
  const text = `UPDATE ${table} SET ${changing.map((column) => `${column} = ?`).join(', ')} WHERE id = ?`;
  return { statement: sql.kept(text), onConflict, columns, places: [...changing, 'id'], values: [] };
}

function hasColumns(row: Row, columns: readonly string[]): boolean {
  let place = 0;
  for (const name in row) {
    if (name !== columns[place]) return false;
    place += 1;
  }
  return place === columns.length;
}

function eachRow({ statement, columns, places, values }: OfRows, rows: readonly Row[]): number {
  let changed = 0;
  for (const row of rows) {
    const isTaken = places === columns && takeInOrder(row, columns, values);
    if (!isTaken) for (const [place, name] of places.entries()) values[place] = row[name] as Value;
    changed += statement.run(values).changes;
  }
  return changed;
}

/** Takes the values of a row whose columns are in this order, as nearly all are: that costs less than to look each up by its name. */
function takeInOrder(row: Row, columns: readonly string[], values: Value[]): boolean {
  let place = 0;
  for (const name in row) {
    if (name !== columns[place]) return false;
    values[place] = row[name] as Value;
    place += 1;
  }
  return place === columns.length;
}
