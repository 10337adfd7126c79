import {
  EngineError,
  type Log,
  type NewTrailEntry,
  type Owner,
  ownerHashOf,
  type TenantId,
  type Tools,
  type TrailStore,
} from '@slowwave/engine';

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
  const waiting: Buffer<Waiting> = buffer({
    ...how,
    append: (entries) => ledger.trail.append(entries.map(withHash)),
  });
  return {
    what,
    record: ({ tookMs, tenant, ...request }) =>
      waiting.push({
        ...request,
        tenant: tenant as TenantId,
        id: tools.id('aud'),
        at: Math.round(tools.now() - tookMs),
      }),
    close: waiting.close,
  };
}

type Waiting = Omit<NewTrailEntry, 'ownerHash'>;

const OWNERS: ReadonlySet<string> = new Set(['user', 'agent', 'run'] satisfies Owner['kind'][]);

const isOwner = (subject: NewTrailEntry['subject']): subject is Owner => subject !== null && OWNERS.has(subject.kind);

/** How long an entry waits for others to be written with it, in ms. */
const GATHER_MS = 200;
/** So many are written at a time: a millisecond of the ledger's one writer. */
const SLICE = 100;
/** Entries that may wait while the ledger is away: about 10 MB. */
export const WAITING_MAX = 20_000;
/** The pause after a failure, in ms. */
const AGAIN_MS = 1_000;

interface BufferOptions<Entry> {
  append(entries: readonly Entry[]): Promise<void>;
  /** Some were written, or will never be. */
  counted(outcome: 'written' | 'lost', count: number): void;
  readonly log: Log;
  readonly gatherMs?: number;
}

interface Buffer<Entry> {
  /** Takes it and returns at once; never throws. What does not fit any more is lost, and counted. */
  push(entry: Entry): void;
  /** Writes what waits; what the ledger does not take now is lost. */
  close(): Promise<void>;
}

/** Entries on their way to the ledger: nobody waits for them, and a ledger that is away fails nobody's request. */
function buffer<Entry>({ append, counted, log, gatherMs = GATHER_MS }: BufferOptions<Entry>): Buffer<Entry> {
  const waiting: Entry[] = [];
  const trouble = reporting(log);
  let timer: NodeJS.Timeout | null = null;
  let writing: Promise<void> = Promise.resolve();

  const lose = (count: number, why: unknown): void => {
    counted('lost', count);
    trouble.say(why, 'audit log entries are lost');
  };
  /** Tries the ones that wait now, slice by slice. Answers false where the ledger is to be asked again later. */
  const write = async (): Promise<boolean> => {
    for (let left = waiting.length; left > 0; ) {
      const slice = waiting.slice(0, Math.min(left, SLICE));
      try {
        await append(slice);
        counted('written', slice.length);
        trouble.over();
      } catch (error) {
        if (isPassing(error)) {
          trouble.say(error, 'the audit log is waiting for the ledger');
          return false;
        }
        lose(slice.length, error);
      }
      waiting.splice(0, slice.length);
      left -= slice.length;
    }
    return true;
  };
  const schedule = (ms: number): void => {
    timer = setTimeout(() => {
      writing = write().then((written) => {
        timer = null;
        if (waiting.length > 0) schedule(written ? gatherMs : AGAIN_MS);
      });
    }, ms).unref();
  };

  return {
    push: (entry) => {
      if (waiting.length >= WAITING_MAX) return lose(1, 'too many entries are waiting for the ledger');
      waiting.push(entry);
      if (timer === null) schedule(gatherMs);
    },
    close: async () => {
      await writing;
      if (timer !== null) clearTimeout(timer);
      if (!(await write())) lose(waiting.splice(0).length, 'the ledger was unavailable when this process stopped');
    },
  };
}

/** Says what is wrong once, until it is over. */
function reporting(log: Log) {
  let said = '';
  return {
    say: (why: unknown, what: string): void => {
      if (said !== what) log.error({ why: String(why) }, what);
      said = what;
    },
    over: (): void => {
      said = '';
    },
  };
}

const isPassing = (error: unknown): boolean => !(error instanceof EngineError) || error.retryable;
