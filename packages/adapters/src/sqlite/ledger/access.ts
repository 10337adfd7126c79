import { EngineError } from '@slowwave/engine/storing';
import type { Access } from '../../ledger/access.ts';
import type { Script } from '../../ledger/script.ts';
import type { Thread } from '../../system/index.ts';
import type { Auditor } from './auditor.ts';
import { asLedgerError, unavailable } from './errors.ts';
import { runScript } from './script.ts';
import type { Sql } from './sql.ts';

interface Connections {
  readonly reader: Sql;
  /** null for a process that only reads. */
  readonly writer: Thread | null;
  readonly auditor: Auditor;
}

/** How the stores reach the file: reads run on the calling thread, audits and writes on threads of their own. */
export function accessOf({ reader, writer, auditor }: Connections): Access & {
  /** Calls the writer by the name of what it is to do; resolves when what it writes is on the disk. */
  call<Result>(name: string, input: unknown): Promise<Result>;
} {
  const snapshot = reader.db.transaction((script: Script<unknown>) => runScript(reader, script));
  const read = async <T>(script: Script<T>): Promise<T> => {
    try {
      return snapshot(script) as T;
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
    read: ({ name, script, isAudit }, input) => (isAudit ? auditor.read(name, input) : read(script(input))),
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
