import {
  EngineError,
  idOfPost,
  isPost,
  kept,
  type Log,
  type NewReceipt,
  type NewTrailEntry,
  type Owner,
  ownerBitsOfLane,
  ownerHashOf,
  type ReceiptStore,
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

interface AuditOptions {
  readonly what: 'changes' | 'all';
  readonly ledger: { readonly id: string; readonly trail: Pick<TrailStore, 'append'> };
  readonly tools: Tools;
  readonly log: Log;
  counted(outcome: 'written' | 'lost', count: number): void;
  readonly gatherMs?: number;
}

/** The audit log of one process: gathers what is recorded, and writes it to the ledger beside everything else. */
export function auditLog({ what, ledger, tools, ...how }: AuditOptions): AuditLog {
  const withHash = (entry: WaitingEntry): NewTrailEntry => {
    const { tenant, subject } = entry;
    const owner = isOwner(subject) ? subject : null;
    return { ...entry, ownerHash: owner && ownerHashOf(tools, { ledgerId: ledger.id, tenant, owner }) };
  };
  const waiting = writtenBeside<WaitingEntry>({
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

type WaitingEntry = Omit<NewTrailEntry, 'ownerHash'>;

const OWNERS: ReadonlySet<string> = new Set(['user', 'agent', 'run'] satisfies Owner['kind'][]);

const isOwner = (subject: NewTrailEntry['subject']): subject is Owner => subject !== null && OWNERS.has(subject.kind);

const WORDS = { waits: 'the audit log is waiting for the ledger', lost: 'audit log entries are lost' } as const;

/** What an answer told, as the route that gave it reports it. */
type Answered = Omit<NewReceipt, 'id' | 'at'>;

export interface Receipts {
  /** The id under which an answer will be found; null: it will not. Returns at once; never throws. */
  note(answered: Answered): string | null;
  close(): Promise<void>;
}

interface ReceiptOptions {
  readonly ledger: { readonly receipts: Pick<ReceiptStore, 'append'> };
  readonly tools: Tools;
  readonly log: Log;
  counted(outcome: 'written' | 'omitted' | 'lost', count: number): void;
  readonly gatherMs?: number;
}

/** The receipts of one process: gathered, and written to the ledger beside the answers they are of. */
export function receiptsOf({ ledger, tools, log, counted, gatherMs }: ReceiptOptions): Receipts {
  const mayKeep = besideRate(tools);
  const waiting = writtenBeside<NewReceipt>({
    ...{ log, counted, gatherMs, waits: 'receipts are waiting for the ledger', lost: 'receipts are lost' },
    append: (receipts) => ledger.receipts.append(receipts),
    groupOf: ({ lane }) => lane,
  });
  return {
    note: (answered) => {
      if (!mayKeep()) {
        counted('omitted', 1);
        return null;
      }
      // Before it waits: of questions as they were asked a full queue would hold hundreds of MB.
      const receipt = { ...kept(answered), id: tools.id('rcp', ownerBitsOfLane(answered.lane)), at: tools.now() };
      return waiting.push(receipt) ? receipt.id : null;
    },
    close: waiting.close,
  };
}

/** Writes a second of one process, on average: of receipts these are up to 700 MB a day. */
export const PER_SECOND = 20;
/** How many there may be at once. */
export const AT_ONCE = 200;

const SECOND_MS = 1_000;

/** Whether one more of what answers have written beside them is within the rate: receipts, and what conversations were told. */
export function besideRate({ now }: Pick<Tools, 'now'>): () => boolean {
  let left = AT_ONCE;
  let last = now();
  return () => {
    const at = now();
    // A clock that is set back brings nothing.
    left = Math.min(AT_ONCE, left + (Math.max(0, at - last) / SECOND_MS) * PER_SECOND);
    last = at;
    if (left < 1) return false;
    left -= 1;
    return true;
  };
}

/** How long something waits for others to be written with it, in ms. */
const GATHER_MS = 200;
/** So many are written at a time: a millisecond of the ledger's one writer. */
const SLICE = 100;
/** So many may wait while the ledger is away: 10 MB, or of receipts that told ten memories each 60 MB. */
export const WAITING_MAX = 20_000;
/** The pause after a failure, in ms. */
const AGAIN_MS = 1_000;
/** Groups that are written at the same time: one that has to wait for a lock leaves the way free for others. */
const GROUPS_AT_ONCE = 2;
/** So many groups that fail in a row say that it is the ledger that is away, and not something about them. */
const AWAY_AFTER = 3;

interface Options<Entry> {
  append(entries: readonly Entry[]): Promise<void>;
  /** Entries of different groups are written apart: where one group fails, the others are written all the same. */
  groupOf?(entry: Entry): string;
  /** Some were written, or will never be. */
  counted(outcome: 'written' | 'lost', count: number): void;
  readonly log: Log;
  /** The log line while the ledger is away. */
  readonly waits: string;
  /** The log line when something will never be written. */
  readonly lost: string;
  readonly gatherMs?: number | undefined;
}

interface Besides<Entry> {
  /** Takes it and returns at once; never throws. false: it does not fit any more, is lost and counted. */
  push(entry: Entry): boolean;
  /** Writes what waits; what the ledger does not take now is lost. */
  close(): Promise<void>;
}

/** Writes to the ledger beside requests: nobody waits for it, and a ledger that is away fails nobody's request. */
function writtenBeside<Entry extends object>({ append, counted, log, ...given }: Options<Entry>): Besides<Entry> {
  const { waits, lost, gatherMs = GATHER_MS, groupOf = () => '' } = given;
  const waiting = new Set<Entry>();
  const trouble = reporting(log);
  let timer: NodeJS.Timeout | null = null;
  let writing: Promise<void> = Promise.resolve();

  const lose = (count: number, why: unknown): void => {
    counted('lost', count);
    trouble.say(why, lost);
  };
  /** Tries a group, slice by slice. Answers false where it is to be tried again later: after all others. */
  const writeGroup = async (group: readonly Entry[]): Promise<boolean> => {
    for (let from = 0; from < group.length; from += SLICE) {
      const slice = group.slice(from, from + SLICE);
      try {
        await append(slice);
        counted('written', slice.length);
      } catch (error) {
        if (isPassing(error)) {
          trouble.say(error, waits);
          moveToEnd(waiting, group.slice(from));
          return false;
        }
        lose(slice.length, error);
      }
      for (const entry of slice) waiting.delete(entry);
    }
    return true;
  };
  /** Tries the ones that wait now. Answers false where some are to be tried again later. */
  const write = async (): Promise<boolean> => {
    const groups = Map.groupBy(waiting, groupOf).values();
    let failed = 0;
    let inARow = 0;
    const writeNext = async (): Promise<void> => {
      for (const group of groups) {
        const written = await writeGroup(group);
        inARow = written ? 0 : inARow + 1;
        if (!written) failed += 1;
        if (inARow >= AWAY_AFTER) return;
      }
    };
    await Promise.all(Array.from({ length: GROUPS_AT_ONCE }, writeNext));
    if (failed === 0) trouble.over();
    return failed === 0;
  };
  const schedule = (ms: number): void => {
    timer = setTimeout(() => {
      writing = write().then((written) => {
        timer = null;
        if (waiting.size > 0) schedule(written ? gatherMs : AGAIN_MS);
      });
    }, ms).unref();
  };

  return {
    push: (entry) => {
      if (waiting.size >= WAITING_MAX) {
        lose(1, 'too many entries are waiting for the ledger');
        return false;
      }
      waiting.add(entry);
      if (timer === null) schedule(gatherMs);
      return true;
    },
    close: async () => {
      await writing;
      if (timer !== null) clearTimeout(timer);
      if (await write()) return;
      lose(waiting.size, 'the ledger was unavailable when this process stopped');
      waiting.clear();
    },
  };
}

function moveToEnd<Entry>(all: Set<Entry>, some: readonly Entry[]): void {
  for (const entry of some) {
    all.delete(entry);
    all.add(entry);
  }
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
