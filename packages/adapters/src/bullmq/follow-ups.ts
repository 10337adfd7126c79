import { QUEUES } from '@slowwave/contracts';
import type { FollowUps, Log } from '@slowwave/engine';
import type { QueueConnection } from './connection.ts';
import { openToWrite } from './open-queue.ts';
import { addRefresh } from './refreshes.ts';
import { addStudies } from './studies.ts';

export interface OpenedFollowUps extends FollowUps {
  close(): Promise<void>;
}

/** Opens the queues of what consolidations leave for later; throws when the server is away. */
export async function openFollowUps(options: { connection: QueueConnection; log: Log }): Promise<OpenedFollowUps> {
  const open = (name: string) => openToWrite(options.connection, { name, log: options.log });
  const [summaries, studies] = await Promise.all([open(QUEUES.summarize.name), open(QUEUES.study.name)]);
  return {
    summarize: (refresh) => summaries.call((queue) => addRefresh(queue, refresh)),
    study: (lanes) => studies.call((queue) => addStudies(queue, lanes, options.connection.jobStates(queue))),
    close: async () => {
      await Promise.all([summaries.close(), studies.close()]);
    },
  };
}
