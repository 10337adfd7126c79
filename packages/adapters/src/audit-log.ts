import {
  idOfPost,
  isPost,
  type Log,
  type NewTrailEntry,
  type Owner,
  ownerHashOf,
  type TenantId,
  type Tools,
  type TrailStore,
} from '@slowwave/engine';
import { writtenBeside } from './beside.ts';

/** What somebody asked for, as the shell of the HTTP apps reports it. */
interface Request {
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
  record(request: Request): void;
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

/** The audit log of one process: gathers what is recorded, and writes it to the ledger beside everything else. */
export function auditLog({ what, ledger, tools, ...how }: Options): AuditLog {
  const withHash = (entry: Waiting): NewTrailEntry => {
    const { tenant, subject } = entry;
    const owner = isOwner(subject) ? subject : null;
    return { ...entry, ownerHash: owner && ownerHashOf(tools, { ledgerId: ledger.id, tenant, owner }) };
  };
  const waiting = writtenBeside<Waiting>({
    ...how,
    ...WORDS,
    append: (entries) => ledger.trail.append(entries.map(withHash)),
  });
  return {
    what,
    record: ({ tookMs, tenant, ...request }) =>
      waiting.push({
        ...request,
        tenant: tenant as TenantId,
        id: isPost(request) ? idOfPost(request.subject?.id ?? '') : tools.id('aud'),
        at: Math.round(tools.now() - tookMs),
      }),
    close: waiting.close,
  };
}

type Waiting = Omit<NewTrailEntry, 'ownerHash'>;

const OWNERS: ReadonlySet<string> = new Set(['user', 'agent', 'run'] satisfies Owner['kind'][]);

const isOwner = (subject: NewTrailEntry['subject']): subject is Owner => subject !== null && OWNERS.has(subject.kind);

const WORDS = { waits: 'the audit log is waiting for the ledger', lost: 'audit log entries are lost' } as const;
