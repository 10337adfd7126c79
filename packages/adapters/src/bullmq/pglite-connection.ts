import { EngineError, type Log } from '@slowwave/engine';
import { createPostgresBackend, LATEST_SCHEMA_VERSION, Queue, Worker } from 'bullmq';
import { startThread, type Thread } from '../system/thread.ts';
import { callQueue, newPulse } from './calls.ts';
import { QUEUE_OPTIONS, type QueueConnection } from './connection.ts';
import { memoryTurnOrder } from './order.ts';
import { openPools } from './pglite-pool.ts';
import type { PgliteInit, PgliteStart } from './pglite-thread.ts';
import { FORGET_EVENTS, sqlJobStates, sqlJobsOfLane, sqlWaiting } from './postgres.ts';

const PLACE = 'PGlite in this process';

/**
 * Queues in a PostgreSQL inside this process, in memory: gone with the process, and filled again from the ledger.
 * `imagePath` is where an empty database is kept, because making one takes seconds and loading one does not.
 */
export async function pgliteConnection(options: { imagePath: string; log: Log }): Promise<QueueConnection> {
  const thread = await start(options.imagePath);
  report(await thread.call<PgliteStart>('start'), options.log);
  const { work, other } = openPools(thread);
  const order = memoryTurnOrder(); // nobody else uses this queue
  const pulse = newPulse();
  return {
    place: PLACE,
    pulse,
    ready: () => callQueue({ place: PLACE, pulse }, async () => void (await other.query('SELECT 1'))),
    // The types of queues and workers name their backend; nothing above this line uses what only one of them has.
    openQueue: (name, line = 'other') => {
      const connection = line === 'work' ? work : other;
      return new Queue(name, { ...QUEUE_OPTIONS, connection }, createPostgresBackend) as unknown as Queue;
    },
    openWorker: (name, processor, shared) =>
      new Worker(name, processor, { ...shared, connection: work }, createPostgresBackend) as unknown as Worker,
    turnOrder: () => order,
    waiting: () => sqlWaiting(work),
    jobStates: () => sqlJobStates(other),
    jobsOfLane: () => sqlJobsOfLane(other),
    forgetEvents: async ({ name }) => void (await other.query(FORGET_EVENTS, [name])),
    close: async () => {
      await other.end();
      await thread.close();
    },
  };
}

async function start(imagePath: string): Promise<Thread> {
  const init: PgliteInit = { imagePath, schemaVersion: LATEST_SCHEMA_VERSION };
  try {
    return await startThread(new URL('./pglite-thread.ts', import.meta.url), init);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new EngineError(
      `expected the in-process queue database to start, got: ${reason}; it needs about 200 MB of memory`,
      { code: 'queue_unavailable', retryable: false, cause: error },
    );
  }
}

function report({ from, problem }: PgliteStart, log: Log): void {
  if (problem !== null)
    log.warn({ problem }, 'the image of the queue database was of no use; starts take seconds longer');
  else log.debug({ from }, 'the queue database started');
}
