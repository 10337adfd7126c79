import { EngineError } from '@slowwave/engine/storing';
import type { Access } from '../../ledger/access.ts';
import type { Script } from '../../ledger/script.ts';
import type { Thread } from '../../system/index.ts';
import { asLedgerError, unavailable } from './errors.ts';
import type { Reader } from './reader.ts';
import { snapshotsOf } from './script.ts';
import type { Sql } from './sql.ts';

export interface Connections {
  /** The calling thread's own, for lookups. */
  readonly here: Sql;
  readonly reader: Reader;
  readonly auditor: Reader;
  /** null for a process that only reads. */
  readonly writer: Thread | null;
}

/** How the stores reach the file: lookups run on the calling thread, other reads, audits and writes on threads of their own. */
export function accessOf({ here, reader, auditor, writer }: Connections): Access & {
  /** Calls the writer by the name of what it is to do; resolves when what it writes is on the disk. */
  call<Result>(name: string, input: unknown): Promise<Result>;
} {
  const snapshot = snapshotsOf(here);
  const lookup = async <T>(script: Script<T>): Promise<T> => {
    try {
      return snapshot(script);
    } catch (error) {
      throw asLedgerError(error);
    }
  };
  const call = async <T>(name: string, input: unknown): Promise<T> => {
    if (writer === null) throw readOnly(name);
    try {
      return await writer.call<T>(name, input);
    } catch (error) {
      // The thread sends EngineErrors; anything else says that the thread itself is gone.
      if (error instanceof EngineError) throw error;
      throw unavailable('the ledger of this process is closed or its writer has died; restart the process', error);
    }
  };
  return {
    read: ({ name, script, reach }, input) => {
      if (reach === 'lookup') return lookup(script(input));
      return (reach === 'audit' ? auditor : reader).read(name, input);
    },
    write: ({ name }, input) => call(name, input),
    call,
  };
}

const readOnly = (name: string): EngineError =>
  new EngineError(
    `this process opened the ledger for reading only, so it cannot ${name}; open it with readOnly: false`,
    {
      code: 'ledger_unavailable',
      retryable: false,
    },
  );
