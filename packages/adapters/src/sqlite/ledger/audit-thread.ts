import { hostThread, methodHost, type ThreadHost } from '../../system/thread-host.ts';
import { asLedgerError } from './errors.ts';
import { AUDITS } from './read/audit.ts';
import { connectToRead, type Sql } from './sql.ts';

type Audit = (sql: Sql, ...args: never[]) => unknown;

/** Looks through whole tables, which takes seconds in a large ledger: nobody else waits for it here. */
hostThread<{ readonly path: string }>(({ path }): ThreadHost => {
  const sql = connectToRead(path, { readOnlyFile: false });
  const snapshot = sql.db.transaction((read: () => unknown) => read());
  const methods = Object.entries(AUDITS).map(([name, audit]) => [
    name,
    (...args: never[]) => orLedgerError(() => snapshot(() => (audit as Audit)(sql, ...args))),
  ]);
  return methodHost(Object.fromEntries(methods), () => void sql.db.close());
});

function orLedgerError(work: () => unknown): unknown {
  try {
    return work();
  } catch (error) {
    throw asLedgerError(error);
  }
}
