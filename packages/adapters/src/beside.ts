import { EngineError, type Log } from '@slowwave/engine';

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
export function writtenBeside<Entry extends object>({
  append,
  counted,
  log,
  ...given
}: Options<Entry>): Besides<Entry> {
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
