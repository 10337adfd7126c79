import type { Log } from '@slowwave/engine';
import type { RedisPlace } from '../redis.ts';
import { startThread, type Thread } from '../system/thread.ts';

/** Where locks are renewed, as a thread can be told. The URL may hold a password. */
export type LockServer =
  | (RedisPlace & { readonly kind: 'redis' })
  | { readonly kind: 'postgres'; readonly url: string };

/** A running job as its lock knows it. */
export interface HeldJob {
  readonly queue: string;
  readonly id: string;
  /** Of this time of running: whoever has the job next has another. */
  readonly token: string;
}

/** What the thread begins with. */
export interface LocksInit {
  readonly server: LockServer;
  readonly lockMs: number;
  /** A number that the main thread counts up while it runs. */
  readonly beat: SharedArrayBuffer;
  /** A main thread that has not counted for so long hangs, and its locks are left to expire. */
  readonly hungMs: number;
}

/** What the thread tells unasked: these jobs have another lock, or none. */
export interface LostLocks {
  readonly lost: readonly HeldJob[];
}

/** Renews the locks of all running jobs of this process in a thread of its own. */
export interface LockKeeper {
  /** Renews the lock of a job until the returned function is called. */
  hold(job: HeldJob): () => void;
  /** Called when somebody else may have one of the queue's jobs. */
  onLost(queue: string, listener: (ids: string[]) => void): void;
  close(): Promise<void>;
}

/**
 * For how many locks a main thread may be busy with one step and still keep its jobs. The longest step seen took 9 s: deciding, with
 * the builtin model, on a batch of 2,000 messages that say the same over and over.
 */
const LOCKS_OF_ONE_STEP = 5;
/** Well within what a lock lasts: a lost beat does no harm. */
const BEATS_PER_LOCK = 6;
/** After the thread ended by itself; until then locks last. */
const RESTART_MS = 500;

interface KeeperOptions {
  readonly server: LockServer;
  readonly lockMs: number;
  readonly log: Log;
}

/**
 * A process that is dead or stopped renews nothing, and its locks expire within seconds. One that is busy goes on renewing: its thread
 * is, whatever the main thread does.
 */
export async function keepLocks({ server, lockMs, log }: KeeperOptions): Promise<LockKeeper> {
  const held = new Set<HeldJob>();
  const listeners = new Map<string, (ids: string[]) => void>();
  let closing = false;
  const beat = new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT);
  const beats = new Int32Array(beat);
  const beating = setInterval(() => void Atomics.add(beats, 0, 1), lockMs / BEATS_PER_LOCK).unref();
  const init: LocksInit = { server, lockMs, beat, hungMs: lockMs * LOCKS_OF_ONE_STEP };

  const tell = ({ lost }: LostLocks): void => {
    const mine = lost.filter(({ queue, id, token }) =>
      [...held].some((job) => job.queue === queue && job.id === id && job.token === token),
    );
    for (const [queue, jobs] of Map.groupBy(mine, (job) => job.queue)) listeners.get(queue)?.(jobs.map(({ id }) => id));
  };
  const start = async (): Promise<Thread> => {
    const thread = await startThread(new URL('./locks-thread.ts', import.meta.url), init, THREAD_LIMITS);
    thread.onNotice((notice) => tell(notice as LostLocks));
    void thread.gone.then(again);
    return thread;
  };
  const again = (): void => {
    if (closing) return;
    log.error({}, 'the thread that renews the locks of running jobs ended; a new one is started');
    setTimeout(() => {
      if (closing) return;
      running = start();
      for (const job of held) say('hold', job);
      running.catch(again);
    }, RESTART_MS).unref();
  };
  const say = (method: 'hold' | 'release', job: HeldJob): void => {
    // A thread that has ended is told everything anew when there is another one.
    void running.then((thread) => thread.call(method, job)).catch(() => {});
  };
  let running = Promise.resolve(await start()); // before the first job: a main thread that is busy with it starts nothing
  return {
    hold: (job) => {
      held.add(job);
      say('hold', job);
      return () => {
        if (held.delete(job)) say('release', job);
      };
    },
    onLost: (queue, listener) => void listeners.set(queue, listener),
    close: async () => {
      closing = true;
      clearInterval(beating);
      await running.then(
        (thread) => thread.close(),
        () => {}, // it never started
      );
    },
  };
}

/** It holds some hundred names of jobs and one connection. */
const THREAD_LIMITS = { maxOldGenerationSizeMb: 32, maxYoungGenerationSizeMb: 4 };
