import { QUEUES } from '@slowwave/contracts';
import type { FollowUps, Log } from '@slowwave/engine';
import type { QueueConnection } from './connection.ts';
import { openToWrite } from './open-queue.ts';
import { addRefresh } from './refreshes.ts';

export interface OpenedFollowUps extends FollowUps {
  close(): Promise<void>;
}

/** Opens the queues of what consolidations leave for later; throws when the server is away. */
export async function openFollowUps(options: { connection: QueueConnection; log: Log }): Promise<OpenedFollowUps> {
  const { call, close } = await openToWrite(options.connection, { name: QUEUES.summarize.name, log: options.log });
  return {
    summarize: (refresh) => call((queue) => addRefresh(queue, refresh)),
    close,
  };
}
