import {
  type Given,
  type Held,
  madeOnce,
  type Row,
  type Script,
  type Step,
  type Table,
  toPostgres,
  type WriteStep,
} from '../../ledger/script.ts';
import type { Params, Sql } from './sql.ts';

/** Runs a script to its end, one statement after the other. */
export async function runScript<T>(sql: Sql, script: Script<T>): Promise<T> {
  let step = script.next();
  while (step.done !== true) step = script.next(await answer(sql, step.value));
  return step.value;
}

function answer(sql: Sql, step: Step): Promise<unknown> {
  switch (step.kind) {
    case 'all':
      return sql.all(statements.of(step.text), bound(step.given));
    case 'once':
      return sql.once(toPostgres(step.text), bound(step.given));
    case 'run':
    case 'insert':
    case 'update': {
      const { text, params } = writeOf(step);
      return sql.run(text.replaceAll(HELD, 'true'), params);
    }
    case 'together':
      return Promise.all(step.steps.map((one) => answer(sql, one)));
    case 'inOne':
      return inOne(sql, step);
  }
}

interface Write {
  readonly text: string;
  readonly params: Params;
}

function writeOf(step: WriteStep): Write {
  switch (step.kind) {
    case 'run':
      return { text: statements.of(step.text), params: bound(step.given) };
    case 'insert':
      return { text: inserts.of(step.table), params: byColumn(step) };
    case 'update':
      return { text: updates.of(step.table), params: byColumn(step) };
  }
}

/** One statement whose parts all see the same moment. The parameters of each have a prefix of their own. */
async function inOne(sql: Sql, { steps, held }: { steps: readonly WriteStep[]; held: Held | null }): Promise<boolean> {
  const parts = steps.map(writeOf);
  const texts = parts.map(({ text }, i) => `w${i} AS (${renamed(text, `w${i}_`).replaceAll(HELD, IS_HELD)})`);
  const params = parts.map(({ params: own }, i) =>
    Object.entries(own).map(([name, value]) => [`w${i}_${name}`, value]),
  );
  const head = held === null ? 'held AS (SELECT 1)' : `held AS (${statements.of(held.text)})`;
  const text = `WITH ${[head, ...texts].join(', ')} SELECT count(*) AS held FROM held`;
  const row = await sql.get<{ held: number }>(text, {
    ...(held !== null && bound(held.given)),
    ...Object.fromEntries(params.flat()),
  });
  return row !== null && row.held > 0;
}

const HELD = ':held';
const IS_HELD = 'EXISTS (SELECT 1 FROM held)';

const renamed = (text: string, prefix: string): string => text.replace(/@(?=[a-z])/gi, `@${prefix}`);

/** Tables travel as JSON, lists as arrays. */
function bound(given: Given): Params {
  const { rows } = given;
  return (Array.isArray(rows) ? { ...given, rows: JSON.stringify(rows) } : given) as Params;
}

/** An array of values for each column: one statement for all rows. */
const byColumn = ({ table, rows }: { table: Table<string>; rows: readonly Row<string>[] }): Params =>
  Object.fromEntries(Object.keys(table.columns).map((column) => [column, rows.map((row) => row[column])])) as Params;

function insertInto({ name, columns, onConflict = '' }: Table<string>): string {
  const names = Object.keys(columns);
  return `INSERT INTO ${name} (${names.join(', ')}) SELECT * FROM unnest(${arrays(columns)}) AS n WHERE :held ${onConflict}`;
}

function updateOf({ name, columns }: Table<string>): string {
  const [key, ...changing] = Object.keys(columns);
  if (key === undefined) throw new Error(`an update of ${name} needs the column that says which row`);
  const set = changing.map((column) => `${column} = n.${column}`).join(', ');
  const given = `unnest(${arrays(columns)}) AS n (${Object.keys(columns).join(', ')})`;
  return `UPDATE ${name} SET ${set} FROM ${given} WHERE ${name}.${key} = n.${key} AND :held`;
}

const arrays = (columns: Table<string>['columns']): string =>
  Object.entries(columns)
    .map(([column, type]) => `@${column}::${type === 'real' ? 'float8' : type}[]`)
    .join(', ');

const statements = madeOnce(toPostgres);
const inserts = madeOnce(insertInto);
const updates = madeOnce(updateOf);
