import { QUEUES } from '@slowwave/contracts';
import type { ErasureQueue, Log } from '@slowwave/engine';
import type { JobsOptions } from 'bullmq';
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
        // Jobs hold ids alone, but why one failed is told in words. One that runs ends by itself: the ledger refuses its work.
        const ids = await call((queue) => connection.jobsOfLane(queue)(queue.name, lane));
        for (const id of ids) await call((queue) => queue.remove(id));
        await call((queue) => connection.forgetEvents(queue));
      }
    },
    close: async () => {
      await Promise.all(queues.map((queue) => queue.close()));
    },
  };
}
