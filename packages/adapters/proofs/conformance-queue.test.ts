import { QUEUES } from '@slowwave/contracts';
import { describeFollowUps, describeLimiter, describeSchedule, recordingLog } from '@slowwave/engine-testing';
import { afterAll, vi } from 'vitest';
import {
  openFollowUps,
  openSchedule,
  postgresConnection,
  queueFor,
  redisConnection,
  startStudyWorker,
  startSummaryWorker,
  startTurnWorker,
} from '../src/bullmq/index.ts';
import { postgresLimiter, redisLimiter } from '../src/limits/index.ts';
import { givenServer } from './conformance-server.ts';

const PATIENCE = { timeout: 30_000, interval: 20 };
const url = givenServer('QUEUE_URL');
if (url !== null) describeOn(url);

function describeOn(url: string): void {
  const log = recordingLog();
  const isRedis = new URL(url).protocol.startsWith('redis');
  const name = isRedis ? 'on Redis' : 'on PostgreSQL';
  const connection = isRedis ? redisConnection(url) : postgresConnection({ url, log });
  afterAll(() => connection.close());
  const emptied = async (of: keyof typeof QUEUES) => {
    const queue = queueFor(connection, QUEUES[of].name);
    await vi.waitFor(() => queue.obliterate({ force: true }), PATIENCE);
    return queue;
  };

  describeSchedule(name, async () => {
    await connection.ready();
    await (await emptied('consolidate')).close();
    return {
      schedule: await openSchedule({ connection, log }),
      startWorker: (handler, concurrency) => startTurnWorker({ connection, concurrency, handler, log }),
      now: () => Date.now(),
      close: async () => {},
    };
  });
  describeFollowUps(name, async () => {
    const followUps = await openFollowUps({ connection, log });
    const [queue, studies] = [await emptied('summarize'), await emptied('study')];
    return {
      followUps,
      startWorker: (handler) => startSummaryWorker({ connection, concurrency: 1, handler, log }),
      startStudies: (handler) => startStudyWorker({ connection, concurrency: 1, handler, log }),
      close: async () => {
        await Promise.all([followUps.close(), queue.close(), studies.close()]);
      },
    };
  });
  describeLimiter(`a limiter ${name}`, async (limits) =>
    isRedis ? redisLimiter(url, limits) : postgresLimiter({ url, log }, limits),
  );
}
