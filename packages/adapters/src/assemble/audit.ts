import type { Ledger, Log, Tools } from '@slowwave/engine';
import type { Config } from '../config/index.ts';
import { auditMetrics } from '../metrics/index.ts';
import { type AuditLog, auditLog } from '../trail/index.ts';
import type { Observer } from './observer.ts';

interface Parts {
  readonly ledger: Ledger;
  readonly tools: Tools;
  readonly log: Log;
  readonly observer: Pick<Observer, 'registry'>;
}

export interface Audit {
  /** null: nothing is recorded. */
  readonly sink: AuditLog | null;
  /** To be closed after the routes, and before the ledger. */
  close(): Promise<void>;
}

/** The audit log of the configuration. */
export function openAudit({ audit: what }: Config, { ledger, tools, log, observer }: Parts): Audit {
  if (what === 'off') return { sink: null, close: async () => {} };
  const sink = auditLog({ what, ledger, tools, log, counted: auditMetrics(observer.registry) });
  return { sink, close: sink.close };
}
