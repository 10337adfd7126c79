import { scriptNamed } from '../../ledger/access.ts';
import '../../ledger/audit.ts';
import { hostThread, type ThreadCall, type ThreadHost } from '../../system/thread-host.ts';
import { asLedgerError } from './errors.ts';
import { runScript } from './script.ts';
import { connectToRead, type Sql } from './sql.ts';

/** Looks through whole tables, which takes seconds in a large ledger: nobody else waits for it here. */
hostThread<{ readonly path: string }>(({ path }): ThreadHost => {
  const sql = connectToRead(path, { readOnlyFile: false });
  const atOnce = sql.db.transaction((read: () => unknown) => read());
  return {
    close: () => void sql.db.close(),
    receive: (call) => {
      try {
        call.answer(atOnce(() => audit(sql, call)));
      } catch (error) {
        call.fail(asLedgerError(error));
      }
    },
  };
});

function audit(sql: Sql, { method, args }: ThreadCall): unknown {
  const script = scriptNamed(method);
  if (script === undefined) throw new Error(`the ledger has no audit ${method}`);
  return runScript(sql, script(args[0] as never));
}
