import { setTimeout as sleep } from 'node:timers/promises';
import type { Log } from '@slowwave/engine';
import type { Queue } from 'bullmq';
import { closeQueue } from './close-queue.ts';
import type { QueueConnection } from './connection.ts';
import { logErrorsQuietly } from './quiet-errors.ts';
import { callQueue } from './unavailable.ts';

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
