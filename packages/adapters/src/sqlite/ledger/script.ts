import {
  type Given,
  madeOfColumns,
  madeOnce,
  type RowsStep,
  type Script,
  type Step,
  toSqlite,
} from '../../ledger/script.ts';
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
