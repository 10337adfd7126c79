import { type Script, toSqlite } from '../../ledger/graph/script.ts';
import type { Sql } from './sql.ts';

/** Runs a script to its end, inside the transaction that is open. */
export function runScript<T>(sql: Sql, script: Script<T>): T {
  let step = script.next();
  while (step.done !== true) {
    const { kind, text, params } = step.value;
    step = script.next(kind === 'all' ? sql.all(toSqlite(text), params) : sql.run(toSqlite(text), params));
  }
  return step.value;
}
