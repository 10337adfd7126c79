import { EngineError } from '@slowwave/engine/storing';
import { startThread, type Thread } from '../../system/index.ts';
import { unavailable } from './errors.ts';

/** Reads a ledger file on a thread of its own, which is started when it is asked for the first time. */
export interface Auditor {
  /** Runs a script by its name. */
  read<Result>(name: string, input: unknown): Promise<Result>;
  close(): Promise<void>;
}

export function openAuditor(path: string): Auditor {
  let starting: Promise<Thread> | null = null;
  let closed = false;
  const start = (): Promise<Thread> => {
    starting ??= startThread(new URL('./audit-thread.ts', import.meta.url), { path }).catch((error: unknown) => {
      starting = null;
      throw error;
    });
    return starting;
  };
  return {
    read: async <Result>(name: string, input: unknown) => {
      try {
        if (closed) throw new Error('it was closed');
        return await (await start()).call<Result>(name, input);
      } catch (error) {
        if (error instanceof EngineError) throw error;
        throw unavailable('the ledger of this process is closed, or cannot be looked through now', error);
      }
    },
    close: async () => {
      closed = true;
      await (await starting?.catch(() => null))?.close();
    },
  };
}
