import { noSteps, type Sql } from '../src/sqlite/ledger/sql.ts';
import type { ThreadHost } from '../src/system/thread-host.ts';

type Given = Parameters<Sql['run']>[1];
/** Statements, with what each was given first. */
export type Statements = Map<string, Given>;

/** The same connection, which notes what it is asked. */
export function noting(sql: Sql, statements: Statements): Sql {
  const noted = (text: string, given: Given): void => {
    // A row's values are given in one list, again and again.
    if (!statements.has(text)) statements.set(text, Array.isArray(given) ? [...given] : given);
  };
  const note = <Rest extends readonly unknown[], Result>(run: (text: string, ...rest: Rest) => Result) => {
    return (text: string, ...rest: Rest): Result => {
      noted(text, rest[0] as Given);
      return run(text, ...rest);
    };
  };
  const kept = (text: string) => {
    const statement = sql.kept(text);
    const all = note((_, given: never) => statement.all(given));
    const run = note((_, given: never) => statement.run(given));
    return { all: (given: never) => all(text, given), run: (given: never) => run(text, given) };
  };
  const once = { db: sql.db, get: note(sql.get), all: note(sql.all), once: note(sql.once), run: note(sql.run) };
  return { ...once, kept, steps: noSteps() } as unknown as Sql;
}

/** The call that asks a thread for its statements. */
export const STATEMENTS = 'statements';

/** A thread that also tells its statements. */
export const telling = (host: ThreadHost, statements: Statements): ThreadHost => ({
  close: host.close,
  receive: (call) => (call.method === STATEMENTS ? call.answer(statements) : host.receive(call)),
});
