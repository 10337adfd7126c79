import { setTimeout as sleep } from 'node:timers/promises';
import { EngineError, type Log } from '@slowwave/engine';
import type { Processor, Queue, QueueOptions, Worker, WorkerOptions } from 'bullmq';
import type { RedisPlace } from '../redis.ts';
import { startThread, type Thread } from '../system/system.ts';
import type { JobStates, JobsOfLane, TurnOrder, Waiting } from './jobs.ts';

/** Options of a worker that hold on every backend. */
export type SharedWorkerOptions = Omit<WorkerOptions, 'connection' | 'prefix'>;

/** Options of a queue that hold on every backend. */
export const QUEUE_OPTIONS = {
  // Events are for views only, nothing is driven by them: a short history is enough.
  streams: { events: { maxLen: 2_000 } },
} as const satisfies Omit<QueueOptions, 'connection'>;

/** A place that queues live in. Everything above it is the same for every backend. */
export interface QueueConnection extends CalledQueue {
  /** Which server it is, for messages; never with a password. */
  readonly place: string;
  /** Whether it answers. */
  readonly pulse: Pulse;
  /** Over how many queues turns are spread. */
  readonly shards: number;
  /** Where the locks of running jobs are renewed; null where no other process could take them. */
  readonly lockServer: LockServer | null;
  /** Resolves when the server answers and is set up as a queue needs it; throws EngineError 'queue_unavailable'. */
  ready(): Promise<void>;
  /** The writing side: fails at once when the server is away. Works only after `ready`. */
  openQueue(name: string): Queue;
  /** The reading side: waits for the server as long as it takes. */
  openWorker(name: string, processor: Processor, options: SharedWorkerOptions): Worker;
  /** The order of turns, kept where the queue is. */
  turnOrder(queue: Queue): TurnOrder;
  /** The turns of a queue that are due. */
  waiting(queue: Queue): Waiting;
  /** What it knows of jobs of a queue. */
  jobStates(queue: Queue): JobStates;
  /** The jobs that are there of a lane. */
  jobsOfLane(queue: Queue): JobsOfLane;
  /** Removes the history of a queue, which says in words why jobs failed, also of jobs that are gone. */
  forgetEvents(queue: Queue): Promise<void>;
  /** Called after every queue and worker of it is closed. */
  close(): Promise<void>;
}

/** A queue as such, for an operator's view of it. Its calls report their own errors. */
export function queueFor(connection: QueueConnection, name: string): Queue {
  const queue = connection.openQueue(name);
  queue.on('error', () => {}); // without a listener the library prints every reconnect to the console
  return queue;
}

/** Resolves when the queue's server answers; throws EngineError 'queue_unavailable' when it does not. */
export const checkQueue = (queue: Queue): Promise<void> =>
  callQueue({ place: queue.name, pulse: newPulse() }, async () => void (await queue.isPaused()));

/** The writing side of one queue. */
export interface OpenedQueue {
  /** Every failure of the call becomes EngineError 'queue_unavailable'. */
  call<T>(run: (queue: Queue) => Promise<T>): Promise<T>;
  close(): Promise<void>;
}

/** The server answered a moment before, so that the queue's own connection is there within milliseconds. */
const RETRY_MS = 10;

/** Opens a queue for writing; throws when the server is away or not set up as a queue needs it. */
export async function openToWrite(
  connection: QueueConnection,
  { name, log }: { name: string; log: Log },
): Promise<OpenedQueue> {
  await connection.ready();
  const queue = connection.openQueue(name);
  logErrorsQuietly(queue, connection, log);
  try {
    await callQueue(connection, () => untilConnected(queue));
  } catch (error) {
    await closeQueue(queue);
    throw error;
  }
  return {
    call: (run) => callQueue(connection, () => run(queue)),
    close: () => closeQueue(queue),
  };
}

/** Calls fail while the queue's own connection is being made. What it is to write at its start is written when it is there. */
async function untilConnected(queue: Queue): Promise<void> {
  for (;;) {
    try {
      await queue.getBackend().setQueueMeta(queue.metaValues);
      return;
    } catch (error) {
      if (queue.closing !== undefined) throw error; // closed because the caller waited long enough
      await sleep(RETRY_MS);
    }
  }
}

/** A goodbye takes milliseconds; a server that is silent never answers it. */
const GOODBYE_MS = 1_000;
/** A connection that is not there cannot say goodbye: its timers are stopped at once, its end may never be reported. */
const DISCONNECT_LIMIT_MS = 500;

/** Closes a queue, also while its server is away or silent. */
export async function closeQueue(queue: Queue): Promise<void> {
  const closed = queue.close().then(
    () => true,
    () => false,
  );
  if (await inTime(closed, GOODBYE_MS)) if (await closed) return;
  await inTime(queue.disconnect(), DISCONNECT_LIMIT_MS);
}

/** Waits for an end, good or bad, as long as the limit says. */
export async function inTime(done: Promise<unknown>, limitMs: number): Promise<boolean> {
  const timer = new AbortController();
  const settled = done.then(
    () => true,
    () => true,
  );
  const late = sleep(limitMs, false, { signal: timer.signal }).catch(() => false);
  const won = await Promise.race([settled, late]);
  timer.abort();
  return won;
}

/** Longer than any queue call under load; a server that froze without closing its sockets is noticed by this alone. */
const CALL_LIMIT_MS = 10_000;
/** While it is silent: long enough to notice that it answers again, short enough that nobody waits for nothing. */
const SILENT_LIMIT_MS = 2_000;

/** Whether a queue server answers this process, as calls and connections show. */
export interface Pulse {
  /** It answered, be it that nobody is there. */
  heard(): void;
  /** Something was sent, and nothing came back in time. */
  missed(): void;
  isSilent(): boolean;
}

/** A server that a call goes to. */
interface CalledQueue {
  readonly place: string;
  readonly pulse: Pulse;
}

export function newPulse(): Pulse {
  let silent = false;
  return {
    heard: () => {
      silent = false;
    },
    missed: () => {
      silent = true;
    },
    isSilent: () => silent,
  };
}

/** Runs one call to the queue; every failure of it, and silence, becomes EngineError 'queue_unavailable'. */
export async function callQueue<T>({ place, pulse }: CalledQueue, call: () => Promise<T>): Promise<T> {
  const limitMs = pulse.isSilent() ? SILENT_LIMIT_MS : CALL_LIMIT_MS;
  let timer: NodeJS.Timeout | undefined;
  const silence = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      pulse.missed();
      reject(new Error(`no answer for ${limitMs} ms`));
    }, limitMs);
  });
  try {
    const answer = await Promise.race([call(), silence]);
    pulse.heard();
    return answer;
  } catch (error) {
    throw unavailable(place, error);
  } finally {
    clearTimeout(timer);
  }
}

/** What a connection reports beside calls: a server that refuses is away, which no new start of this process would mend. */
function feel(pulse: Pulse, error: Error): void {
  const code = 'code' in error ? error.code : null;
  if (code === 'ETIMEDOUT' || /^Socket timeout/.test(error.message)) pulse.missed();
  if (code === 'ECONNREFUSED') pulse.heard();
}

const ADVICE: readonly (readonly [RegExp, string])[] = [
  [/certificate/i, 'name the certificate of the authority that signed its own in NODE_EXTRA_CA_CERTS'],
  [
    /too many clients|remaining connection slots/i,
    'raise its max_connections, or lower SLOWWAVE_DATABASE_CONNECTIONS of each process (see docs/databases.md)',
  ],
];

/** The queue server does not answer; the same call may succeed when it is back. */
export function unavailable(place: string, error: unknown): EngineError {
  if (error instanceof EngineError) return error;
  const reason = error instanceof Error ? error.message : String(error);
  const [, advice = 'check that it is running and can be reached from here'] =
    ADVICE.find(([sign]) => sign.test(reason)) ?? [];
  return new EngineError(`expected the queue at ${place} to answer, got: ${reason}; ${advice}`, {
    code: 'queue_unavailable',
    retryable: true,
    countsAsTry: false,
    cause: error,
  });
}

/** A server that is away makes an error per reconnect and connection: one line per 10 s says it as well. */
const QUIET_MS = 10_000;

interface ErrorSource {
  on(event: 'error', listener: (error: Error) => void): unknown;
}

/** Logs the errors a queue or worker reports beside its calls, at most once per 10 s; they never end the process. */
export function logErrorsQuietly(source: ErrorSource, { place, pulse }: CalledQueue, log: Log): void {
  let quietUntil = 0;
  let suppressed = 0;
  source.on('error', (error) => {
    feel(pulse, error);
    if (Date.now() < quietUntil) {
      suppressed += 1;
      return;
    }
    log.warn(
      { place, error: error.message, suppressed },
      'the queue reports a problem; work continues when it is resolved',
    );
    quietUntil = Date.now() + QUIET_MS;
    suppressed = 0;
  });
}

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
const THREAD_LIMITS = { maxOldGenerationSizeMb: 32 };
