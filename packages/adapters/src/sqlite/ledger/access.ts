import { EngineError } from '@slowwave/engine/storing';
import type { Access as Scripts } from '../../ledger/access.ts';
import type { Thread } from '../../system/index.ts';
import type { Auditor } from './auditor.ts';
import { asLedgerError, unavailable } from './errors.ts';
import { runScript } from './script.ts';
import type { Sql } from './sql.ts';
import type { WriteInput, WriteName, WriteResult } from './write/index.ts';

/** How the stores reach the file: reads on the calling thread, audits and writes on threads of their own. */
export interface Access {
  /** Runs short selects on one snapshot. */
  read<T>(select: (sql: Sql) => T): Promise<T>;
  /** Resolves when the write is on the disk. */
  write<Name extends WriteName>(name: Name, input: WriteInput<Name>): Promise<WriteResult<Name>>;
}

interface Connections {
  readonly reader: Sql;
  /** null for a process that only reads. */
  readonly writer: Thread | null;
  readonly auditor: Auditor;
}

export function accessOf({ reader, writer, auditor }: Connections): Access & { readonly scripts: Scripts } {
  const snapshot = reader.db.transaction((select: (sql: Sql) => unknown) => select(reader));
  const read = async <T>(select: (sql: Sql) => T): Promise<T> => {
    try {
      return snapshot(select) as T;
    } catch (error) {
      throw asLedgerError(error);
    }
  };
  const write = async <T>(name: string, input: unknown): Promise<T> => {
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
    read,
    write,
    scripts: {
      read: ({ name, script, isAudit }, input) =>
        isAudit ? auditor.read(name, input) : read((sql) => runScript(sql, script(input))),
      write: ({ name }, input) => write(name, input),
    },
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
