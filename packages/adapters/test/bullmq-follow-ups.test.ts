import { QUEUES } from '@slowwave/contracts';
import type { LaneId, StudyHandler, SummaryHandler } from '@slowwave/engine';
import { describeFollowUps, recordingLog } from '@slowwave/engine-testing';
import { startPostgres, startRedis, type TestPostgres, type TestRedis } from '@slowwave/testkit';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import {
  memoryConnection,
  openFollowUps,
  postgresConnection,
  type QueueConnection,
  queueFor,
  redisConnection,
  startStudyWorker,
  startSummaryWorker,
} from '../src/bullmq/index.ts';

const PATIENCE = { timeout: 60_000, interval: 20 };
let redis: TestRedis;
let postgres: TestPostgres;
let onPostgres: QueueConnection | null = null;

beforeAll(async () => {
  [redis, postgres] = await Promise.all([startRedis(), startPostgres()]);
});
afterAll(async () => {
  await onPostgres?.close();
  await Promise.all([redis.stop(), postgres.stop()]);
});

/** An empty queue of follow-ups. */
async function openOn(connection: QueueConnection) {
  const log = recordingLog();
  const followUps = await openFollowUps({ connection, log });
  const queue = queueFor(connection, QUEUES.summarize.name);
  const studies = queueFor(connection, QUEUES.study.name);
  await vi.waitFor(() => queue.obliterate({ force: true }), PATIENCE);
  await vi.waitFor(() => studies.obliterate({ force: true }), PATIENCE);
  const startWorker = (handler: SummaryHandler) => startSummaryWorker({ connection, concurrency: 1, handler, log });
  const startStudies = (handler: StudyHandler) => startStudyWorker({ connection, concurrency: 1, handler, log });
  const close = async () => {
    await Promise.all([followUps.close(), queue.close(), studies.close()]);
  };
  return { followUps, queue, startWorker, startStudies, close };
}

describeFollowUps('on Redis', () => openOn(redisConnection(redis.url)));

describeFollowUps('in memory', () => openOn(memoryConnection()));

describeFollowUps('on PostgreSQL', () => {
  onPostgres ??= postgresConnection({ url: postgres.url, log: recordingLog() });
  return openOn(onPostgres);
});

test('a refresh that fails waits for its next try, and holds ids and nothing else', async () => {
  const { followUps, queue, startWorker, close } = await openOn(redisConnection(redis.url));
  const worker = startWorker(() => Promise.reject(new Error('a bug')));
  await followUps.summarize({ lane: 'lane_a' as LaneId, scope: '1', upTo: 20 });
  await vi.waitFor(async () => expect(await queue.getDelayedCount()).toBe(1), PATIENCE);
  const job = await queue.getJob('lane_a~1~20');
  expect(job?.data).toEqual({ lane: 'lane_a', scope: '1', upTo: 20 });
  expect(job?.attemptsMade).toBe(1);
  expect(job?.opts.attempts).toBe(3);
  await worker.close();
  await close();
});
