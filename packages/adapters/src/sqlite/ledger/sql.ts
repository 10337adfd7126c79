import type { Scalar, Test } from '@slowwave/engine';
import { fold } from '@slowwave/engine/storing';

import Database from 'better-sqlite3';
import { type Bind, type Dialect, SIGNS, type Source } from '../../ledger/filter-sql.ts';
import {
  type Given,
  madeOnce,
  type Row,
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
 * So many pages of the log, of the usual size 16 MB, are carried over into the file at a time. Pages that change again and again are
 * carried over once; a longer log would be slower to read and to recover. One that had to grow longer, while somebody read for long,
 * is cut to that again once it is carried over.
 */
const CHECKPOINT_PAGES = 4_000;
export const PAGE_BYTES = 4_096;

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
  kept(text: string): Statement;
  /** What it keeps of the steps of scripts that it has run. */
  readonly steps: Steps;
}

type Statement = Database.Statement<[Params | readonly Value[]]>;

/** Each step costs one look beside its statement: by its text, or by its table. */
interface Steps {
  readonly texts: Map<string, OfText>;
  readonly inserts: Map<string, OfRows>;
  readonly updates: Map<string, OfRows>;
}

/** Of a connection that has run none. Who listens to the statements of one gives it such, so that it is asked for each. */
export const noSteps = (): Steps => ({ texts: new Map(), inserts: new Map(), updates: new Map() });

/** A connection that writes. WAL: readers never wait; FULL: a commit is on the disk when it returns. A new file gets pages of that size. */
export function connectToWrite(path: string, pageBytes = PAGE_BYTES): Sql {
  const db = new Database(path, { timeout: BUSY_TIMEOUT_MS });
  db.pragma(`page_size = ${pageBytes}`);
  enableWal(db);
  db.pragma('synchronous = FULL');
  db.pragma('foreign_keys = ON');
  db.pragma(`cache_size = -${WRITE_CACHE_KIB}`);
  db.pragma(`wal_autocheckpoint = ${CHECKPOINT_PAGES}`);
  db.pragma(`journal_size_limit = ${CHECKPOINT_PAGES * pageBytes}`);
  db.pragma('secure_delete = ON'); // what is deleted is zeroed, so that little is left for an erasure to rewrite
  return sqlOf(db);
}

/** Leaves no log behind, unless somebody else still reads from it: who closes last may be one who must not write. */
export function closeWritten({ db }: Sql): void {
  try {
    db.pragma('busy_timeout = 0');
    db.pragma('wal_checkpoint(TRUNCATE)');
  } catch {
    // All that was committed is in the log.
  }
  db.close();
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
  const prepared = new Map<string, Statement>();
  const statement = (text: string): Statement => {
    const known = prepared.get(text);
    if (known !== undefined) return known;
    const made = db.prepare<[Params | readonly Value[]]>(plannedOnce(text));
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
    steps: noSteps(),
  };
}

/**
 * A statement that is planned when it is prepared, and never again. SQLite parses and plans one anew for each run whose values its
 * planner has asked for, such as a limit or what a column equals, which takes several times as long as the run. It does not ask for
 * a value with a collation, and ours is the one that everything has.
 */
export const plannedOnce = (text: string): string =>
  text.replace(/'[^']*'|@[a-z]\w*|\?/gi, (found) => (found.startsWith("'") ? found : `${found} COLLATE BINARY`));

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
  eachRow(sql, { kind: 'insert', table, rows, key: '', onConflict: '' });

/** Runs a script to its end, inside the transaction that is open. */
export function runScript<T>(sql: Sql, script: Script<T>): T {
  let step = script.next();
  while (step.done !== true) step = script.next(answer(sql, step.value));
  return step.value;
}

function answer(sql: Sql, step: Step): unknown {
  switch (step.kind) {
    case 'all':
      return allOf(sql, step);
    case 'once':
      return sql.once(toSqlite(step.text), byName(step.given));
    case 'run': {
      const known = ofText(sql, step.text);
      return known.statement.run(byPlace(step.given, known)).changes;
    }
    case 'insert':
    case 'update':
      return eachRow(sql, step);
    case 'together':
      return step.steps.map((one) => answer(sql, one));
    case 'last':
      return answer(sql, step.step);
    case 'unawaited':
      for (const one of step.steps) answer(sql, one);
      return;
    case 'inOne': {
      const { held, steps } = step;
      if (held !== null && allOf(sql, held).length === 0) return false;
      for (const one of steps) answer(sql, one);
      return true;
    }
  }
}

interface Asked {
  readonly text: string;
  readonly given: Given;
}

function allOf(sql: Sql, { text, given }: Asked): readonly unknown[] {
  const known = ofText(sql, text);
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

function ofText(sql: Sql, text: string): OfText {
  const known = sql.steps.texts.get(text);
  if (known !== undefined) return known;
  const { marked, names } = markedOnce.of(text);
  const made = { statement: sql.kept(marked), names, values: [] };
  sql.steps.texts.set(text, made);
  return made;
}

interface Marked {
  readonly marked: string;
  readonly names: readonly string[];
}

/** A statement of a script as SQLite reads it, with question marks, and which value each of them stands for. */
export function markedOf(text: string): Marked {
  const names: string[] = [];
  const marked = toSqlite(text).replace(/'[^']*'|@([a-z]\w*)/gi, (found, name?: string) => {
    if (name === undefined) return found; // in quotes
    names.push(name);
    return '?';
  });
  return { marked, names };
}

/** For all connections of a thread. */
const markedOnce = madeOnce(markedOf);

function byPlace(given: Given, { names, values }: OfText): readonly Value[] {
  for (let place = 0; place < names.length; place += 1) values[place] = valueNamed(names[place] ?? '', given);
  return values;
}

const byName = (given: Given): Params =>
  Object.fromEntries(Object.keys(given).map((name) => [name, valueNamed(name, given)]));

/** Lists and tables travel as JSON. */
function valueNamed(name: string, given: Given): Value {
  const value = given[name];
  if (value === undefined) throw new Error(`the statement needs a parameter named ${name}, but got none`);
  return typeof value === 'object' && Array.isArray(value) ? JSON.stringify(value) : (value as Value);
}

/** A statement for rows with these columns, with values by place: that costs less than to read them out of a list. */
interface OfRows {
  readonly statement: Statement;
  readonly key: string;
  readonly onConflict: string;
  /** As the rows have them. */
  readonly columns: readonly string[];
  /** At which place the statement has each; null: as the rows have them. */
  readonly places: readonly number[] | null;
  /** One row's, until the next. */
  readonly values: Value[];
}

function eachRow(sql: Sql, step: RowsStep): number {
  const { rows } = step;
  const first = rows[0];
  if (first === undefined) return 0;
  const of = ofRows(sql, step, first);
  let changed = of.statement.run(of.values).changes;
  for (let i = 1; i < rows.length; i += 1) {
    const row = rows[i] ?? first;
    if (!takeInOrder(row, of)) takeByName(row, of);
    changed += of.statement.run(of.values).changes;
  }
  return changed;
}

/** The statement of rows with the columns of this one, with its values taken. */
function ofRows(sql: Sql, step: RowsStep, row: Row): OfRows {
  const tables = step.kind === 'insert' ? sql.steps.inserts : sql.steps.updates;
  const known = tables.get(step.table);
  if (known !== undefined && known.key === step.key && known.onConflict === step.onConflict && takeInOrder(row, known))
    return known;
  const made = madeOfRows(sql, step, Object.keys(row));
  tables.set(step.table, made);
  takeByName(row, made);
  return made;
}

function madeOfRows(sql: Sql, { kind, table, key, onConflict }: RowsStep, columns: readonly string[]): OfRows {
  if (kind === 'insert') {
    const marks = columns.map(() => '?').join(', ');
    const text = `INSERT INTO ${table} (${columns.join(', ')}) VALUES (${marks}) ${toSqlite(onConflict)}`;
    return { statement: sql.kept(text), key, onConflict, columns, places: null, values: [] };
  }
  const named = [...columns.filter((column) => column !== key), key];
  const changes = named.slice(0, -1).map((column) => `${column} = ?`);
  const statement = sql.kept(`UPDATE ${table} SET ${changes.join(', ')} WHERE ${key} = ?`);
  return { statement, key, onConflict, columns, places: columns.map((column) => named.indexOf(column)), values: [] };
}

/** Takes the values of a row whose columns are in this order, as nearly all are: that costs less than to look each up by its name. */
function takeInOrder(row: Row, { columns, places, values }: OfRows): boolean {
  let next = 0;
  for (const name in row) {
    if (name !== columns[next]) return false;
    values[places === null ? next : (places[next] ?? 0)] = row[name] as Value;
    next += 1;
  }
  return next === columns.length;
}

function takeByName(row: Row, { columns, places, values }: OfRows): void {
  for (let i = 0; i < columns.length; i += 1) values[places?.[i] ?? i] = row[columns[i] ?? ''] as Value;
}

/** SQLite's own lower() knows no letters beyond ASCII. */
export function addFilterFunctions(db: Database.Database): void {
  db.function('slowwave_fold', { deterministic: true }, (text: unknown) =>
    typeof text === 'string' ? fold(text) : null,
  );
}

export function sqliteDialect(source: Source): Dialect {
  return {
    source,
    contains,
    isText,
    metadata: (keys, test, bind) => behind(source.metadata, keys, { test, bind }),
  };
}

type Contains = Extract<Test, { kind: 'contains' }>;

const contains = (column: string, { text, folded }: Contains, bind: Bind): string =>
  `instr(${folded ? `slowwave_fold(${column})` : column}, ${bind(text)}) > 0`;

const isText = (column: string, { text, folded }: Contains, bind: Bind): string =>
  `${folded ? `slowwave_fold(${column})` : column} = ${bind(text)}`;

interface Tested {
  readonly test: Test;
  readonly bind: Bind;
}

/** Goes from key to key through objects. Keys are compared, not made part of a path: paths cannot say all keys. */
function behind(metadata: string, keys: readonly string[], { test, bind }: Tested): string {
  const tables = keys.map((_, i) => `json_each(${i === 0 ? metadata : objectOnly(`k${i - 1}`)}) AS k${i}`);
  const path = keys.map((key, i) => `k${i}.key = ${bind(key)}`);
  const last = `k${keys.length - 1}`;
  return `EXISTS (SELECT 1 FROM ${tables.join(', ')} WHERE ${path.join(' AND ')} AND ${holds(last, { test, bind })})`;
}

const objectOnly = (table: string): string => `CASE ${table}.type WHEN 'object' THEN ${table}.value ELSE '{}' END`;
const arrayOnly = (table: string): string => `CASE ${table}.type WHEN 'array' THEN ${table}.value ELSE '[]' END`;

/** Of a value, or of any element of a list. */
function holds(table: string, { test, bind }: Tested): string {
  if (test.kind === 'present') return `${table}.type <> 'null'`;
  const some = `EXISTS (SELECT 1 FROM json_each(${arrayOnly(table)}) AS e WHERE ${ofElement(test, bind)})`;
  return `(${ofScalar(table, test, bind)} OR ${some})`;
}

type ValueTest = Exclude<Test, { kind: 'present' }>;

function ofElement(test: ValueTest, bind: Bind): string {
  return test.kind === 'contains'
    ? `(e.type = 'text' AND ${isText('e.value', test, bind)})`
    : ofScalar('e', test, bind);
}

function ofScalar(table: string, test: ValueTest, bind: Bind): string {
  switch (test.kind) {
    case 'equals':
      return equals(table, test.values, bind);
    case 'compares':
      return `(${typed(table, test.to)} ${SIGNS[test.by]} ${bind(test.to)})`;
    case 'contains':
      return `(${table}.type = 'text' AND ${contains(`${table}.value`, test, bind)})`;
  }
}

function equals(table: string, values: readonly Scalar[], bind: Bind): string {
  const flags = values.filter((value) => typeof value === 'boolean').map((value) => `${table}.type = '${value}'`);
  const texts = values.filter((value) => typeof value === 'string').map(bind);
  const numbers = values.filter((value) => typeof value === 'number').map(bind);
  const conditions = [
    ...flags,
    ...(texts.length === 0 ? [] : [`${typed(table, '')} IN (${texts.join(', ')})`]),
    ...(numbers.length === 0 ? [] : [`${typed(table, 0)} IN (${numbers.join(', ')})`]),
  ];
  return `(${conditions.join(' OR ')})`;
}

/** Whole numbers beyond 2^53 are written with zeros at the end: as such they would be other numbers. */
const typed = (table: string, like: string | number): string =>
  typeof like === 'string'
    ? `${table}.type = 'text' AND ${table}.value`
    : `${table}.type IN ('integer', 'real') AND CAST(${table}.value AS REAL)`;
