import { scriptNamed } from '../../ledger/script.ts';
import '../../ledger/stores.ts';
import { hostThread } from '../../system/thread-host.ts';
import { asLedgerError } from '../file.ts';
import type { ReaderInit } from './open.ts';
import { connectToRead, snapshotsOf } from './sql.ts';

/** Reads the ledger beside the thread that answers requests. */
hostThread<ReaderInit>(({ path, readOnlyFile }) => {
  const sql = connectToRead(path, { readOnlyFile });
  const read = snapshotsOf(sql);
  return {
    close: () => void sql.db.close(),
    receive: ({ method, args, answer, fail }) => {
      try {
        const script = scriptNamed(method);
        if (script === undefined) throw new Error(`the ledger has no read ${method}`);
        answer(read(script(args[0] as never)));
      } catch (error) {
        fail(asLedgerError(error));
      }
    },
  };
});
