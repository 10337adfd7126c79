import { QUEUES } from '@slowwave/contracts';
import type { ErasureQueue, LaneId, Log } from '@slowwave/engine';
import type { JobsOptions, Queue } from 'bullmq';
import type { QueueConnection } from './connection.ts';
import { addDue } from './job-states.ts';
import { type OpenedQueue, openToWrite } from './open-queue.ts';

export interface OpenedErasureQueue extends ErasureQueue {
  close(): Promise<void>;
}

/** What an erasure is called in operators' views of the queue. */
const ERASURE = 'erasure';

const OPTIONS = {
  attempts: 1,
  // A kept job would make the queue ignore the next of its name: the ledger has the record.
  removeOnComplete: true,
  removeOnFail: true,
} as const satisfies JobsOptions;

/** Jobs looked at in one call. */
const PAGE = 500;
/** Every state in which a job is at rest; a running one ends by itself, because the ledger refuses its work. */
const AT_REST = ['wait', 'delayed', 'prioritized', 'completed', 'failed'] as const;

/** Opens the queue of erasures, and those that may hold something of a lane; throws when the server is away. */
export async function openErasureQueue(options: {
  connection: QueueConnection;
  log: Log;
}): Promise<OpenedErasureQueue> {
  const { connection, log } = options;
  const open = (name: string): Promise<OpenedQueue> => openToWrite(connection, { name, log });
  const names = [QUEUES.erase, QUEUES.consolidate, QUEUES.summarize, QUEUES.study].map(({ name }) => name);
  const queues = await Promise.all(names.map(open));
  const [erasures, ...ofLanes] = queues;
  return {
    erase: async (ids) => {
      const jobs = ids.map((erasure) => ({ name: ERASURE, data: { erasure }, opts: { ...OPTIONS, jobId: erasure } }));
      await erasures?.call((queue) => addDue(queue, jobs, connection.jobStates(queue)));
    },
    forgetLane: async (lane) => {
      for (const { call } of ofLanes) {
        await forgetJobs(call, lane);
        await call((queue) => connection.forgetEvents(queue));
      }
    },
    close: async () => {
      await Promise.all(queues.map((queue) => queue.close()));
    },
  };
}

/** Jobs hold ids alone, but why one failed is told in words. */
async function forgetJobs(call: OpenedQueue['call'], lane: LaneId): Promise<void> {
  for (const state of AT_REST) await forgetIn(call, state, lane);
}

/** From the end to the beginning: what is removed moves nothing that is still to be looked at. */
async function forgetIn(call: OpenedQueue['call'], state: (typeof AT_REST)[number], lane: LaneId): Promise<void> {
  const count = await call((queue: Queue) => queue.getJobCountByTypes(state));
  for (let start = Math.floor(count / PAGE) * PAGE; start >= 0; start -= PAGE) {
    await call((queue) => forgetPage(queue, { state, start, lane }));
  }
}

async function forgetPage(
  queue: Queue,
  { state, start, lane }: { state: (typeof AT_REST)[number]; start: number; lane: LaneId },
): Promise<void> {
  const jobs = await queue.getJobs([state], start, start + PAGE - 1);
  const mine = jobs.filter((job) => (job?.data as { lane?: unknown } | undefined)?.lane === lane);
  for (const job of mine) await job.remove();
}
