import { type Script, toPostgres } from '../../ledger/graph/script.ts';
import type { Sql } from './sql.ts';

/** Runs a script to its end, one statement after the other. */
export async function runScript<T>(sql: Sql, script: Script<T>): Promise<T> {
  let step = script.next();
  while (step.done !== true) {
    const { kind, text, params } = step.value;
    const asked = toPostgres(text);
    step = script.next(kind === 'all' ? await sql.all(asked, params) : await sql.run(asked, params));
  }
  return step.value;
}
