import type { AuditStore } from '@slowwave/engine';
import { EngineError } from '@slowwave/engine/storing';
import { startThread, type Thread } from '../../system/index.ts';
import { unavailable } from './errors.ts';
import type { AUDITS } from './read/audit.ts';

type Name = keyof typeof AUDITS;

/** The audits of a ledger file, on a thread of their own that is started when the first one is asked for. */
export function openAuditor(path: string): { readonly store: AuditStore; close(): Promise<void> } {
  let starting: Promise<Thread> | null = null;
  let closed = false;
  const start = (): Promise<Thread> => {
    starting ??= startThread(new URL('./audit-thread.ts', import.meta.url), { path }).catch((error: unknown) => {
      starting = null;
      throw error;
    });
    return starting;
  };
  const ask = async <T>(name: Name, ...args: unknown[]): Promise<T> => {
    try {
      if (closed) throw new Error('it was closed');
      return await (await start()).call<T>(name, ...args);
    } catch (error) {
      if (error instanceof EngineError) throw error;
      throw unavailable('the ledger of this process is closed, or cannot be looked through now', error);
    }
  };
  return {
    store: {
      tenants: () => ask('tenants'),
      memories: () => ask('memories'),
      sample: (limit) => ask('sample', limit),
      orphans: (kind) => ask('orphans', kind),
      contradictions: (kind) => ask('contradictions', kind),
      overdue: (before) => ask('overdue', before),
      parked: () => ask('parked'),
    },
    close: async () => {
      closed = true;
      await (await starting?.catch(() => null))?.close();
    },
  };
}
