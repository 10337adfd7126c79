/**
 * What the graph asks of a ledger, written once for all SQL ledgers: a script yields statements one after the other and is
 * given their rows. SQLite runs it inside one call, PostgreSQL waits for each answer; both take what is written here:
 *   @name        a value
 *   IN :name     one of a list of texts
 *   :rows        a table of the rows given as `rows`: value ->> 'column'
 */
export type Script<T> = Generator<Query, T, unknown>;

export type Value = string | number | null;
type Given = Readonly<Record<string, Value | readonly string[] | readonly object[]>>;

interface Query {
  /** all: its rows; run: how many rows changed. */
  readonly kind: 'all' | 'run';
  readonly text: string;
  /** Lists are JSON by now. */
  readonly params: Readonly<Record<string, Value>>;
}

export function* all<Row>(text: string, given: Given = {}): Script<readonly Row[]> {
  return (yield { kind: 'all', text, params: paramsOf(given) }) as readonly Row[];
}

export function* first<Row>(text: string, given: Given = {}): Script<Row | null> {
  return (yield* all<Row>(text, given))[0] ?? null;
}

export function* run(text: string, given: Given = {}): Script<number> {
  return (yield { kind: 'run', text, params: paramsOf(given) }) as number;
}

const paramsOf = (given: Given): Query['params'] =>
  Object.fromEntries(
    Object.entries(given).map(([name, value]) => [
      name,
      typeof value === 'object' && value !== null ? JSON.stringify(value) : value,
    ]),
  );

type ColumnType = 'text' | 'integer' | 'real';

export interface Table<Name extends string> {
  readonly name: string;
  readonly columns: Readonly<Record<Name, ColumnType>>;
  /** What follows the rows: ON CONFLICT … */
  readonly onConflict: string;
}

/** Inserts rows with one statement. */
export function* insert<Name extends string>(
  table: Table<Name>,
  rows: readonly Readonly<Record<Name, Value>>[],
): Script<void> {
  if (rows.length > 0) yield* run(insertText(table), { rows });
}

function insertText({ name, columns, onConflict }: Table<string>): string {
  const values = Object.entries(columns).map(([column, type]) => CASTS[type](`value ->> '${column}'`));
  // WHERE true: else SQLite takes ON CONFLICT for a join.
  return `INSERT INTO ${name} (${Object.keys(columns).join(', ')}) SELECT ${values.join(', ')} FROM :rows AS r WHERE true ${onConflict}`;
}

const CASTS: Readonly<Record<ColumnType, (value: string) => string>> = {
  text: (value) => value,
  integer: (value) => `CAST(${value} AS BIGINT)`,
  real: (value) => `CAST(${value} AS DOUBLE PRECISION)`,
};

/** How a dialect writes lists and rows. */
interface Dialect {
  list(name: string): string;
  readonly rows: string;
}

const SQLITE: Dialect = {
  list: (name) => `IN (SELECT value FROM json_each(@${name}))`,
  rows: 'json_each(@rows)',
};

const POSTGRES: Dialect = {
  list: (name) => `= ANY(ARRAY(SELECT jsonb_array_elements_text(@${name}::jsonb)))`,
  rows: '(SELECT value FROM jsonb_array_elements(@rows::jsonb) AS e (value))',
};

/** The texts in a dialect, each made once. */
function translator({ list, rows }: Dialect): (text: string) => string {
  const known = new Map<string, string>();
  return (text) => {
    const made =
      known.get(text) ?? text.replace(/IN :(\w+)/g, (_, name: string) => list(name)).replace(/:rows\b/g, rows);
    known.set(text, made);
    return made;
  };
}

export const toSqlite = translator(SQLITE);
export const toPostgres = translator(POSTGRES);
