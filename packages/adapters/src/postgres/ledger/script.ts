import { type Given, madeOnce, type Row, type Script, type Step, type Table, toPostgres } from '../../ledger/script.ts';
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
      return sql.run(statements.of(step.text), bound(step.given));
    case 'insert':
      return sql.run(inserts.of(step.table), byColumn(step));
    case 'update':
      return sql.run(updates.of(step.table), byColumn(step));
    case 'together':
      return Promise.all(step.steps.map((one) => answer(sql, one)));
  }
}

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
  return `INSERT INTO ${name} (${names.join(', ')}) SELECT * FROM unnest(${arrays(columns)}) ${onConflict}`;
}

function updateOf({ name, columns }: Table<string>): string {
  const [key, ...changing] = Object.keys(columns);
  if (key === undefined) throw new Error(`an update of ${name} needs the column that says which row`);
  const set = changing.map((column) => `${column} = n.${column}`).join(', ');
  const given = `unnest(${arrays(columns)}) AS n (${Object.keys(columns).join(', ')})`;
  return `UPDATE ${name} SET ${set} FROM ${given} WHERE ${name}.${key} = n.${key}`;
}

const arrays = (columns: Table<string>['columns']): string =>
  Object.entries(columns)
    .map(([column, type]) => `@${column}::${type === 'real' ? 'float8' : type}[]`)
    .join(', ');

const statements = madeOnce(toPostgres);
const inserts = madeOnce(insertInto);
const updates = madeOnce(updateOf);
