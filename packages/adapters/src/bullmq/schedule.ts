import { setTimeout as sleep } from 'node:timers/promises';
import { QUEUES } from '@slowwave/contracts';
import type { Log, Schedule } from '@slowwave/engine';
import type { Queue } from 'bullmq';
import { closeQueue } from './close-queue.ts';
import type { QueueConnection } from './connection.ts';
import { logErrorsQuietly } from './quiet-errors.ts';
import { addTurns, portions, turnState } from './turns.ts';
import { callQueue } from './unavailable.ts';

/** The server answered a moment before, so that the queue's own connection is there within milliseconds. */
const RETRY_MS = 10;

/** Opens the writing side of the queue; throws when the server is away or not set up as a queue needs it. */
export async function openSchedule(options: { connection: QueueConnection; log: Log }): Promise<Schedule> {
  const { connection, log } = options;
  await connection.ready();
  const queue = connection.openQueue(QUEUES.consolidate.name);
  logErrorsQuietly(queue, connection.place, log);
  const call = <T>(run: () => Promise<T>): Promise<T> => callQueue(connection.place, run);
  try {
    await call(() => untilConnected(queue));
  } catch (error) {
    await closeQueue(queue);
    throw error;
  }
  return {
    nudge: async (nudges) => {
      for (const portion of portions(nudges)) await call(() => addTurns(queue, portion));
    },
    stateOf: (nudge) => call(() => turnState(queue, nudge)),
    check: () => call(async () => void (await queue.isPaused())),
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
