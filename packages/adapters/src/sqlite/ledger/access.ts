import { EngineError, InvalidCursorError } from '@slowwave/engine/storing';
import type { Access } from '../../ledger/access.ts';
import type { Script } from '../../ledger/script.ts';
import { startThread, type Thread } from '../../system/index.ts';
import { asLedgerError, unavailable } from './errors.ts';
import { type Sql, snapshotsOf } from './sql.ts';

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

/** Reads a ledger on a thread of its own. */
export interface Reader {
  /** Runs a script by its name. */
  read<Result>(name: string, input: unknown): Promise<Result>;
  close(): Promise<void>;
}

/** What a thread that reads is started with. */
export interface ReaderInit {
  readonly path: string;
  readonly readOnlyFile: boolean;
}

export const startReader = (init: ReaderInit): Promise<Thread> =>
  startThread(new URL('./reader-thread.ts', import.meta.url), init);

/** Starts the thread when it is asked for the first time, and again when the one before has died. */
export function openReader(start: () => Promise<Thread>): Reader {
  let running: Promise<Thread> | null = null;
  let closed = false;
  const startAnew = (): Promise<Thread> => {
    const started = start();
    const forget = (): void => {
      if (running === started) running = null;
    };
    started.then((thread) => thread.gone.then(forget), forget);
    return started;
  };
  return {
    read: async <Result>(name: string, input: unknown) => {
      try {
        if (closed) throw new Error('it was closed');
        running ??= startAnew();
        return await (await running).call<Result>(name, input);
      } catch (error) {
        if (error instanceof EngineError || error instanceof InvalidCursorError) throw error;
        throw unavailable('the ledger of this process is closed, or its reader has died; try again', error);
      }
    },
    close: async () => {
      closed = true;
      await (await running?.catch(() => null))?.close();
    },
  };
}
