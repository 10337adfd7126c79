import { EngineError, type Log } from '@slowwave/engine';

/** How long something waits for others to be written with it, in ms. */
const GATHER_MS = 200;
/** So many are written at a time: a millisecond of the ledger's one writer. */
const SLICE = 100;
/** So many may wait while the ledger is away: about 10 MB. */
export const WAITING_MAX = 20_000;
/** The pause after a failure, in ms. */
const AGAIN_MS = 1_000;

interface Options<Entry> {
  append(entries: readonly Entry[]): Promise<void>;
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
export function writtenBeside<Entry>({ append, counted, log, ...given }: Options<Entry>): Besides<Entry> {
  const { waits, lost, gatherMs = GATHER_MS } = given;
  const waiting: Entry[] = [];
  const trouble = reporting(log);
  let timer: NodeJS.Timeout | null = null;
  let writing: Promise<void> = Promise.resolve();

  const lose = (count: number, why: unknown): void => {
    counted('lost', count);
    trouble.say(why, lost);
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
          trouble.say(error, waits);
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
      if (waiting.length >= WAITING_MAX) {
        lose(1, 'too many entries are waiting for the ledger');
        return false;
      }
      waiting.push(entry);
      if (timer === null) schedule(gatherMs);
      return true;
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
