import { scriptNamed } from '../../ledger/script.ts';
import '../../ledger/stores.ts';
import type { ThreadHost } from '../../system/thread-host.ts';
import { asLedgerError } from '../file.ts';
import { type Sql, snapshotsOf } from './sql.ts';

/** What a thread that reads is started with. */
export interface ReaderInit {
  readonly path: string;
  readonly readOnlyFile: boolean;
}

/** Answers what a reader is asked, on its connection. */
export function readerOf(sql: Sql): ThreadHost {
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
}
