import { EngineError } from '@slowwave/engine/storing';
import type { Thread } from '../../system/index.ts';
import { asLedgerError, unavailable } from './errors.ts';
import type { Sql } from './sql.ts';
import type { WriteInput, WriteName, WriteResult } from './write/index.ts';

/** How the stores reach the file: reads on the calling thread, writes on the writer thread. */
export interface Access {
  /** Runs short selects on one snapshot. */
  read<T>(select: (sql: Sql) => T): Promise<T>;
  /** Resolves when the write is on the disk. */
  write<Name extends WriteName>(name: Name, input: WriteInput<Name>): Promise<WriteResult<Name>>;
}

/** `writer` is null for a process that only reads. */
export function accessOf(reader: Sql, writer: Thread | null): Access {
  const snapshot = reader.db.transaction((select: (sql: Sql) => unknown) => select(reader));
  return {
    read: async <T>(select: (sql: Sql) => T) => {
      try {
        return snapshot(select) as T;
      } catch (error) {
        throw asLedgerError(error);
      }
    },
    write: async <Name extends WriteName>(name: Name, input: WriteInput<Name>) => {
      if (writer === null) throw readOnly(name);
      try {
        return await writer.call<WriteResult<Name>>(name, input);
      } catch (error) {
        // The thread sends EngineErrors; anything else says that the thread itself is gone.
        if (error instanceof EngineError) throw error;
        throw unavailable('the ledger of this process is closed or its writer has died; restart the process', error);
      }
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
