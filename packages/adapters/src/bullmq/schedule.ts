import { QUEUES } from '@slowwave/contracts';
import type { Log, Schedule } from '@slowwave/engine';
import type { QueueConnection } from './connection.ts';
import { openToWrite } from './open-queue.ts';
import { addTurns, portions, turnState } from './turns.ts';

/** Opens the writing side of the queue; throws when the server is away or not set up as a queue needs it. */
export async function openSchedule(options: { connection: QueueConnection; log: Log }): Promise<Schedule> {
  const { call, close } = await openToWrite(options.connection, { name: QUEUES.consolidate.name, log: options.log });
  return {
    nudge: async (nudges) => {
      for (const portion of portions(nudges)) await call((queue) => addTurns(queue, portion));
    },
    stateOf: (nudge) => call((queue) => turnState(queue, nudge)),
    check: () => call(async (queue) => void (await queue.isPaused())),
    close,
  };
}
