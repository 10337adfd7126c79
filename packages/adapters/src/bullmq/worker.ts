import { setTimeout as sleep } from 'node:timers/promises';
import { QUEUES } from '@slowwave/contracts';
import type { Log, Nudge, TurnHandler, TurnWorker } from '@slowwave/engine';
import type { Job, Queue, Worker } from 'bullmq';
import { closeQueue } from './close-queue.ts';
import type { QueueConnection, SharedWorkerOptions } from './connection.ts';
import { logErrorsQuietly } from './quiet-errors.ts';
import { workTurn } from './turn.ts';
import { addTurns } from './turns.ts';
import { callQueue } from './unavailable.ts';

export interface TurnWorkerOptions {
  readonly connection: QueueConnection;
  /** How many turns run at a time. */
  readonly concurrency: number;
  readonly handler: TurnHandler;
  readonly log: Log;
  /** How long a close waits for running turns to stop. */
  readonly handOverMs?: number;
}

/** Shorter than the 30 s between a host's request to stop and its kill; a model call that is cancelled ends at once. */
const HAND_OVER_MS = 10_000;
/** After the turns have ended only marks and goodbyes are left, which a server that is away never answers. */
const GOODBYE_MS = 2_000;

const OPTIONS = {
  // Long enough to outlive a pause of the process. Renewed at half of it. A turn that runs on after losing it is fenced by the ledger.
  lockDuration: 60_000,
  // Half of the lock: a turn whose worker died is taken up again within a minute and a half.
  stalledInterval: 30_000,
  // A worker that is killed during a deployment is no sign of a bad turn; a turn that kills its worker five times is.
  maxStalledCount: 5,
} as const satisfies SharedWorkerOptions;

/** Starts taking due turns. Waits for a server that is away, and recovers when it comes back. */
export function startTurnWorker(options: TurnWorkerOptions): TurnWorker {
  const { connection, log } = options;
  const queue = connection.openQueue(QUEUES.consolidate.name);
  const nudgeNext = async (next: Nudge | null): Promise<void> => {
    if (next === null) return;
    await callQueue(connection.place, () => addTurns(queue, [next])).catch((error: Error) =>
      log.warn({ lane: next.lane, error: error.message }, 'could not nudge the next turn; the sweep will find it'),
    );
  };
  const running = new Set<Promise<void>>();
  let closed: Promise<void> | null = null;
  const work = { handler: options.handler, nudgeNext, isClosing: () => closed !== null, log };
  // The library hands the signal only to a function that declares three parameters.
  const process = (job: Job, token?: string, signal?: AbortSignal): Promise<void> => {
    const turn = workTurn({ job, token, signal }, work).finally(() => running.delete(turn));
    running.add(turn);
    return turn;
  };
  const worker = connection.openWorker(QUEUES.consolidate.name, process, {
    ...OPTIONS,
    concurrency: options.concurrency,
  });
  logErrorsQuietly(queue, connection.place, log);
  watch(worker, options);
  const close = async (): Promise<void> => {
    const stopped = await handOver(worker, running, options);
    // Forced: without marking ended turns and without a goodbye, both of which need the server.
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

function watch(worker: Worker, { connection, log }: TurnWorkerOptions): void {
  logErrorsQuietly(worker, connection.place, log);
  worker.on('lockRenewalFailed', (jobIds) => {
    log.warn({ turns: jobIds }, 'lost the lock of running turns; another worker may have them, so they are cancelled');
    // The library does not: without this two workers would spend tokens on one turn.
    for (const id of jobIds) worker.cancelJob(id, 'lock lost');
  });
  worker.on('stalled', (turn) => log.warn({ turn }, 'a turn of a worker that died or hung is due again'));
}

/** Takes no more turns and cancels the running ones. False when some did not stop in time. */
async function handOver(worker: Worker, running: Set<Promise<void>>, options: TurnWorkerOptions): Promise<boolean> {
  await worker.pause(true); // true: without waiting for running turns, which are cancelled first
  worker.cancelAllJobs('closing');
  if (await inTime(Promise.allSettled(running), options.handOverMs ?? HAND_OVER_MS)) return true;
  options.log.warn(
    { turns: running.size },
    'running turns did not stop in time; their locks expire and another worker takes them up',
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

/** Waits for an end, good or bad, as long as the limit says. */
async function inTime(done: Promise<unknown>, limitMs: number): Promise<boolean> {
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
