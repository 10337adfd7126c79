import { QUEUES, type QueueName } from '@slowwave/contracts';
import type {
  ErasureHandler,
  Log,
  Millis,
  Nudge,
  SleepHandler,
  StudyHandler,
  SummaryHandler,
  TurnHandler,
  TurnName,
  TurnWorker,
} from '@slowwave/engine';
import { DelayedError, type Job, type Queue, type Worker } from 'bullmq';
import { addTurns, tenantIn } from './add.ts';
import {
  callQueue,
  closeQueue,
  inTime,
  type LockKeeper,
  logErrorsQuietly,
  type QueueConnection,
  type SharedWorkerOptions,
} from './connection.ts';
import { placeWaiting, shardQueues } from './jobs.ts';
import { findPlace, type Taken, type Work, workErasure, workNight, workRefresh, workStudy, workTurn } from './take.ts';

interface TurnWorkerOptions extends JobWorkerOptions<TurnHandler> {
  /** When the lane is due, as the ledger says: a turn that comes too early takes nobody's place. */
  readonly dueAt?: (turn: TurnName) => Promise<Millis>;
}

/** Takes due turns of lanes. Of several queues each gets the same number of places: none waits for what is going on in another. */
export function startTurnWorker(options: TurnWorkerOptions): TurnWorker {
  const queues = shardQueues(QUEUES.consolidate.name, options.connection.shards);
  const concurrency = Math.ceil(options.concurrency / queues.length);
  const workers = queues.map((queue) => startTurnsOf(queue, { ...options, concurrency }));
  return {
    close: async () => {
      await Promise.all(workers.map((worker) => worker.close()));
    },
  };
}

function startTurnsOf(name: string, options: TurnWorkerOptions): JobWorker {
  const { connection, log, dueAt = async () => 0 } = options;
  return startJobWorker(options, {
    name,
    whenFull: (queue) =>
      callQueue(connection, () => {
        const [order, waiting] = [connection.turnOrder(queue), connection.waiting(queue)];
        return placeWaiting({ queue: queue.name, order, waiting }, tenantIn);
      }),
    run: (taken, work, queue) =>
      workTurn(taken, {
        ...work,
        nudgeNext: (next) => nudgeNext(queue, next, { connection, log }),
        place: (job, turn) =>
          callQueue(connection, () => findPlace(job, turn, { order: connection.turnOrder(queue), dueAt })),
      }),
  });
}

/** Takes refreshes of summaries. */
export const startSummaryWorker = (options: JobWorkerOptions<SummaryHandler>): JobWorker =>
  startJobWorker(options, { name: QUEUES.summarize.name, run: workRefresh });

/** Takes studies of lanes. */
export const startStudyWorker = (options: JobWorkerOptions<StudyHandler>): JobWorker =>
  startJobWorker(options, { name: QUEUES.study.name, run: workStudy });

/** Takes nights of lanes. */
export const startSleepWorker = (options: JobWorkerOptions<SleepHandler>): JobWorker =>
  startJobWorker(options, { name: QUEUES.sleep.name, run: workNight });

/** Takes erasures. */
export const startErasureWorker = (options: JobWorkerOptions<ErasureHandler>): JobWorker =>
  startJobWorker(options, { name: QUEUES.erase.name, run: workErasure });

async function nudgeNext(
  queue: Queue,
  next: Nudge | null,
  { connection, log }: { connection: QueueConnection; log: Log },
): Promise<void> {
  if (next === null) return;
  await callQueue(connection, () => addTurns(queue, connection.turnOrder(queue), [next])).catch((error: Error) =>
    log.warn({ lane: next.lane, error: error.message }, 'could not nudge the next turn; the sweep will find it'),
  );
}

interface JobWorkerOptions<Handler> {
  readonly handler: Handler;
  readonly connection: QueueConnection;
  /** How many jobs run at a time. */
  readonly concurrency: number;
  readonly log: Log;
  /** A worker that was silent this long is taken for dead, and its jobs are due again. */
  readonly takeOverMs?: number;
  /** Renews the locks of running jobs; without one the worker does it itself, whenever its work lets it. */
  readonly locks?: LockKeeper | undefined;
  /** The timeout of one model call; a job has time for several. */
  readonly modelTimeoutMs?: number;
  /** How long a close waits for running jobs to stop. */
  readonly handOverMs?: number;
}

interface JobWorker {
  close(): Promise<void>;
}

/** Who takes the jobs of each queue. A queue that is left out does not compile: its jobs would wait for ever. */
export type Workers = Readonly<Record<QueueName, JobWorker>>;

/** What one queue's jobs are worked by. */
interface Kind<Handler> {
  readonly name: string;
  /** `queue`: for writing to the same queue. */
  run(taken: Taken, work: Work<Handler>, queue: Queue): Promise<void>;
  /** Done again and again while every place is taken, for then jobs wait. */
  whenFull?(queue: Queue): Promise<void>;
}

/** Shorter than the 30 s between a host's request to stop and its kill; a model call that is cancelled ends at once. */
const HAND_OVER_MS = 10_000;
/** After the jobs have ended only marks and goodbyes are left, which a server that is away never answers. */
const GOODBYE_MS = 2_000;

/**
 * How long a lock holds without being renewed. It is renewed beside the work, in a thread that no step of the work holds up, so that it
 * only has to be longer than pauses of the whole process and of its network. What a job that runs on after losing its lock writes is
 * refused by the ledger.
 */
const TAKE_OVER_MS = 6_000;
const MODEL_TIMEOUT_MS = 60_000;

/** Of that time, how often locks are renewed, and how often the jobs of dead workers are looked for. */
const QUARTER = 4;

/** Starts taking due jobs of a queue. Waits for a server that is away, and recovers when it comes back. */
function startJobWorker<Handler>(options: JobWorkerOptions<Handler>, kind: Kind<Handler>): JobWorker {
  const { connection, handler, log, takeOverMs = TAKE_OVER_MS, modelTimeoutMs = MODEL_TIMEOUT_MS, locks } = options;
  const { name } = kind;
  const queue = connection.openQueue(name);
  const running = new Set<Promise<void>>();
  let closed: Promise<void> | null = null;
  const work: Work<Handler> = { handler, modelTimeoutMs, log, isClosing: () => closed !== null };
  // The library hands the signal only to a function that declares three parameters.
  const process = (job: Job, token?: string, signal?: AbortSignal): Promise<void> => {
    const release = locks?.hold({ queue: name, id: job.id ?? '', token: token ?? '' });
    const done = stillOurs(job, token, takeOverMs)
      .then(() => kind.run({ job, token, signal }, work, queue))
      .finally(() => {
        running.delete(done);
        release?.();
      });
    running.add(done);
    return done;
  };
  const worker = connection.openWorker(name, process, {
    ...optionsOf(takeOverMs, locks),
    concurrency: options.concurrency,
  });
  logErrorsQuietly(queue, connection, log);
  watch(worker, options);
  const full = (): boolean => running.size >= options.concurrency;
  const looking = whileFull(() => kind.whenFull?.(queue), { full, log });
  const close = async (): Promise<void> => {
    clearInterval(looking);
    const stopped = await handOver({ worker, queue, running }, options);
    // Forced: without marking ended jobs and without a goodbye, both of which need the server.
    const forced = !(stopped && (await answers(queue)));
    await inTime(worker.close(forced), GOODBYE_MS);
    await closeQueue(queue);
  };
  return {
    close: () => {
      closed ??= close();
      return closed;
    },
  };
}

const optionsOf = (takeOverMs: number, locks: LockKeeper | undefined): SharedWorkerOptions => ({
  lockDuration: takeOverMs,
  skipLockRenewal: locks !== undefined,
  lockRenewTime: takeOverMs / QUARTER,
  stalledInterval: takeOverMs / QUARTER,
  // A worker that is killed during a deployment is no sign of a bad job; a job that kills its worker five times is.
  maxStalledCount: 5,
});

/** A process that was busy for long between taking a job and beginning it may have lost it: then it is left to whoever has it. */
async function stillOurs(job: Job, token: string | undefined, takeOverMs: number): Promise<void> {
  if (token === undefined || Date.now() - (job.processedOn ?? 0) < takeOverMs / 2) return;
  try {
    await job.extendLock(token, takeOverMs);
  } catch {
    throw new DelayedError();
  }
}

/** Short: those without a place wait for it. */
const LOOK_EVERY_MS = 250;

function whileFull(
  look: () => Promise<void> | undefined,
  { full, log }: { full: () => boolean; log: Log },
): NodeJS.Timeout {
  let isLooking = false;
  return setInterval(async () => {
    if (isLooking || !full()) return;
    isLooking = true;
    try {
      await look();
    } catch (error) {
      log.debug({ error: String(error) }, 'could not order the waiting turns; they run in order of arrival');
    }
    isLooking = false;
  }, LOOK_EVERY_MS).unref();
}

type Watched = Pick<JobWorkerOptions<unknown>, 'connection' | 'log' | 'locks'>;

function watch(worker: Worker, { connection, log, locks }: Watched): void {
  const queue = worker.name;
  logErrorsQuietly(worker, connection, log);
  locks?.onLost(queue, (ids) => worker.emit('lockRenewalFailed', ids));
  worker.on('lockRenewalFailed', (jobs) => {
    const what = 'lost the locks of running jobs; another worker may have taken them, so they are cancelled';
    log.warn({ queue, jobs }, what);
    // The library does not: without this two workers would spend tokens on one job.
    for (const id of jobs) worker.cancelJob(id, 'lock lost');
  });
  worker.on('stalled', (job) => log.warn({ queue, job }, 'a worker died or hung; its job is due again'));
}

interface Running {
  readonly worker: Worker;
  readonly queue: Queue;
  readonly running: ReadonlySet<Promise<void>>;
}

/** Takes no more jobs and cancels the running ones. False when some did not stop in time. */
async function handOver({ worker, queue, running }: Running, options: JobWorkerOptions<unknown>): Promise<boolean> {
  await worker.pause(true); // true: without waiting for running jobs, which are cancelled first
  worker.cancelAllJobs('closing');
  const ended = inTime(Promise.allSettled(running), options.handOverMs ?? HAND_OVER_MS);
  // Nothing can be handed to a server that is silent: what the jobs write to the ledger meanwhile takes no longer than this.
  const silent = new Promise<boolean>((resolve) => {
    void answers(queue).then((answered) => answered || resolve(false));
  });
  if (await Promise.race([ended, silent])) return true;
  options.log.warn(
    { queue: worker.name, jobs: running.size },
    'running jobs could not be handed back in time; another worker will take them over when their locks expire',
  );
  return false;
}

async function answers(queue: Queue): Promise<boolean> {
  let answered = false;
  const asked = queue.isPaused().then(() => {
    answered = true;
  });
  await inTime(asked, GOODBYE_MS);
  return answered;
}
