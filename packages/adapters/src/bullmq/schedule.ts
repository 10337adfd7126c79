import { QUEUES } from '@slowwave/contracts';
import type { Log, Schedule } from '@slowwave/engine';
import type { QueueConnection } from './connection.ts';
import { openToWrite } from './open-queue.ts';
import { addTurns, hurryTurn, jobId, portions } from './turns.ts';

export interface OpenedSchedule extends Schedule {
  /** Jobs of turns by state, e.g. waiting, delayed, active. */
  jobs(): Promise<Readonly<Record<string, number>>>;
}

/** Opens the writing side of the queue; throws when the server is away or not set up as a queue needs it. */
export async function openSchedule(options: { connection: QueueConnection; log: Log }): Promise<OpenedSchedule> {
  const { call, close } = await openToWrite(options.connection, { name: QUEUES.consolidate.name, log: options.log });
  return {
    nudge: async (nudges) => {
      for (const portion of portions(nudges)) {
        await call((queue) => addTurns(queue, options.connection.turnOrder(queue), portion));
      }
    },
    statesOf: (turns) => call((queue) => options.connection.jobStates(queue)(queue.name, turns.map(jobId))),
    hurry: (turn) => call((queue) => hurryTurn(queue, turn)),
    jobs: () => call((queue) => queue.getJobCounts(...COUNTED)),
    check: () => call(async (queue) => void (await queue.isPaused())),
    close,
  };
}

/** What is kept of ended jobs says nothing about the work there is. */
const COUNTED = ['wait', 'prioritized', 'delayed', 'active'] as const;
