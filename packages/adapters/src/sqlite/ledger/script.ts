import { type Given, madeOnce, type Script, type Step, type Table, toSqlite } from '../../ledger/script.ts';
import type { Params, Sql, Value } from './sql.ts';

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
      return eachRow(sql, inserts.of(step.table), step);
    case 'update':
      return eachRow(sql, updates.of(step.table), step);
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
function eachRow(
  sql: Sql,
  { text, columns }: RowStatement,
  { rows }: { rows: readonly Readonly<Record<string, unknown>>[] },
) {
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

const insertInto = ({ name, columns, onConflict = '' }: Table<string>): RowStatement => {
  const names = Object.keys(columns);
  const places = names.map(() => '?').join(', ');
  return {
    columns: names,
    text: `INSERT INTO ${name} (${names.join(', ')}) VALUES (${places}) ${toSqlite(onConflict)}`,
  };
};

const updateOf = ({ name, columns }: Table<string>): RowStatement => {
  const [key, ...changing] = Object.keys(columns);
  if (key === undefined) throw new Error(`an update of ${name} needs the column that says which row`);
  const text = `UPDATE ${name} SET ${changing.map((column) => `${column} = ?`).join(', ')} WHERE ${key} = ?`;
  return { columns: [...changing, key], text };
};

const statements = madeOnce(toSqlite);
const inserts = madeOnce(insertInto);
const updates = madeOnce(updateOf);
