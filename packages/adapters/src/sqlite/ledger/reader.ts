import { EngineError, InvalidCursorError } from '@slowwave/engine/storing';
import { startThread, type Thread } from '../../system/index.ts';
import { unavailable } from './errors.ts';

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
