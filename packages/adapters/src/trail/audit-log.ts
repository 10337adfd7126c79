import {
  type Log,
  type NewTrailEntry,
  type Owner,
  ownerHashOf,
  type TenantId,
  type Tools,
  type TrailStore,
} from '@slowwave/engine';
import { type Buffer, buffer } from './buffer.ts';

/** What somebody asked for, as the shell of the HTTP apps tells it. */
interface Told {
  readonly tenant: string;
  readonly by: string;
  readonly session: boolean;
  readonly action: string;
  readonly subject: NewTrailEntry['subject'];
  readonly status: number;
  readonly code: string | null;
  readonly requestId: string;
  readonly tookMs: number;
}

export interface AuditLog {
  readonly what: 'changes' | 'all';
  record(told: Told): void;
  close(): Promise<void>;
}

interface Options {
  readonly what: 'changes' | 'all';
  readonly ledger: { readonly id: string; readonly trail: Pick<TrailStore, 'append'> };
  readonly tools: Tools;
  readonly log: Log;
  counted(outcome: 'written' | 'lost', count: number): void;
  readonly gatherMs?: number;
}

/** The audit log of one process: gathers what it is told, and writes it to the ledger beside everything else. */
export function auditLog({ what, ledger, tools, ...how }: Options): AuditLog {
  const withHash = (entry: Waiting): NewTrailEntry => {
    const { tenant, subject } = entry;
    const owner = isOwner(subject) ? subject : null;
    return { ...entry, ownerHash: owner && ownerHashOf(tools, { ledgerId: ledger.id, tenant, owner }) };
  };
  const waiting: Buffer<Waiting> = buffer({
    ...how,
    append: (entries) => ledger.trail.append(entries.map(withHash)),
  });
  return {
    what,
    record: ({ tookMs, tenant, ...told }) =>
      waiting.push({ ...told, tenant: tenant as TenantId, id: tools.id('aud'), at: Math.round(tools.now() - tookMs) }),
    close: waiting.close,
  };
}

type Waiting = Omit<NewTrailEntry, 'ownerHash'>;

const OWNERS: ReadonlySet<string> = new Set(['user', 'agent', 'run'] satisfies Owner['kind'][]);

const isOwner = (subject: NewTrailEntry['subject']): subject is Owner => subject !== null && OWNERS.has(subject.kind);
