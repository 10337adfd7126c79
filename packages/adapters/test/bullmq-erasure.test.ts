import { QUEUES } from '@slowwave/contracts';
import { DEFAULT_TENANT, type LaneId, type Nudge } from '@slowwave/engine';
import { recordingLog } from '@slowwave/engine-testing';
import { startRedis, type TestRedis } from '@slowwave/testkit';
import { Redis } from 'ioredis';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import {
  openErasureQueue,
  openFollowUps,
  openSchedule,
  type QueueConnection,
  queueFor,
  redisConnection,
  startErasureWorker,
  startTurnWorker,
} from '../src/bullmq/index.ts';

const PATIENCE = { timeout: 60_000, interval: 20 };
const MINE = 'lane_mine' as LaneId;
const OTHER = 'lane_other' as LaneId;
const log = recordingLog();
const nudge = (lane: LaneId, generation: number, dueAt = 0): Nudge => ({
  ...{ lane, generation, dueAt },
  ...{ tenant: DEFAULT_TENANT, priority: 'live' },
});

describe('the queue of erasures', () => {
  let redis: TestRedis;
  let connection: QueueConnection;

  beforeAll(async () => {
    redis = await startRedis();
    connection = redisConnection(redis.url);
  });
  afterAll(async () => {
    await connection.close();
    await redis.stop();
  });

  it('hands each erasure out until it is over, and again when it is asked for again', async () => {
    const queue = await openErasureQueue({ connection, log });
    const worked: string[] = [];
    const answers: (() => Promise<number | null>)[] = [
      async () => Date.now() + 20,
      () => Promise.reject(new Error('the disk is full')),
      async () => null,
    ];
    const handler = async (id: string) => {
      worked.push(id);
      return (answers[worked.length - 1] ?? answers[2] ?? (async () => null))();
    };
    await queue.erase(['ers_1', 'ers_1']);
    const worker = startErasureWorker({ connection, concurrency: 1, handler, log });
    await vi.waitFor(() => expect(worked).toEqual(['ers_1', 'ers_1']), PATIENCE);
    const jobs = queueFor(connection, QUEUES.erase.name);
    await vi.waitFor(async () => expect(await jobs.getDelayedCount()).toBe(1), PATIENCE);
    await (await jobs.getJob('ers_1'))?.promote();
    await vi.waitFor(async () => expect(await jobs.getJob('ers_1')).toBeUndefined(), PATIENCE);
    await queue.erase(['ers_1']);
    await vi.waitFor(() => expect(worked).toHaveLength(4), PATIENCE);
    await worker.close();
    await Promise.all([queue.close(), jobs.close()]);
  });

  it('leaves nothing of a lane in any key, whatever became of its jobs', async () => {
    const schedule = await openSchedule({ connection, log });
    const followUps = await openFollowUps({ connection, log });
    const worker = startTurnWorker({
      connection,
      concurrency: 1,
      log,
      handler: async ({ lane, generation }) =>
        generation % 2 === 0
          ? { kind: 'done', next: null }
          : { kind: 'parked', reason: `model_rejected: the words of ${lane}`, next: null },
    });
    const nudges = [MINE, OTHER].flatMap((lane) => [1, 2, 3].map((generation) => nudge(lane, generation)));
    await schedule.nudge(nudges);
    const turns = queueFor(connection, QUEUES.consolidate.name);
    await vi.waitFor(async () => expect(await turns.getJobCountByTypes('completed', 'failed')).toBe(6), PATIENCE);
    await worker.close();
    await schedule.nudge([nudge(MINE, 4, Date.now() + 60_000)]);
    await schedule.nudge([nudge(MINE, 5)]);
    await followUps.summarize({ lane: MINE, scope: '1', upTo: 20 });
    const others = Array.from({ length: 1_500 }, (_, i) => nudge(`lane_other_${i}` as LaneId, 1, Date.now() + 60_000));
    await schedule.nudge(others);
    expect(await keysWith(redis.url, MINE)).not.toEqual([]);
    const queue = await openErasureQueue({ connection, log });
    const read = await readBy(redis.url, () => queue.forgetLane(MINE));
    expect(
      read.filter((command) => command.includes('lane_other')),
      'nobody else is looked at',
    ).toEqual([]);
    expect(read.length, 'however many others wait').toBeLessThan(others.length / 3);
    expect(await turns.getJobCountByTypes('delayed')).toBe(others.length);
    expect(await keysWith(redis.url, MINE)).toEqual([]);
    expect(await turns.getJobCountByTypes('completed', 'failed')).toBe(3);
    await Promise.all([queue.close(), schedule.close(), followUps.close(), turns.close()]);
  });
});

/** What the server is asked for meanwhile, by commands as they come. */
async function readBy(url: string, work: () => Promise<void>): Promise<readonly string[]> {
  const client = new Redis(url);
  const monitor = await client.monitor();
  const commands: string[] = [];
  monitor.on('monitor', (_time: string, args: string[]) => commands.push(args.join(' ')));
  await work();
  await client.ping('the end');
  await vi.waitFor(() => expect(commands.some((command) => command.includes('the end'))).toBe(true), PATIENCE);
  monitor.disconnect();
  client.disconnect();
  return commands;
}

/** Keys that have a text in their name or anywhere in their value. */
async function keysWith(url: string, text: string): Promise<string[]> {
  const client = new Redis(url);
  const found: string[] = [];
  for (const key of await client.keys('*')) {
    const value = JSON.stringify(await contentOf(client, key));
    if (key.includes(text) || value.includes(text)) found.push(key);
  }
  client.disconnect();
  return found;
}

async function contentOf(client: Redis, key: string): Promise<unknown> {
  switch (await client.type(key)) {
    case 'hash':
      return client.hgetall(key);
    case 'list':
      return client.lrange(key, 0, -1);
    case 'zset':
      return client.zrange(key, '0', '-1');
    case 'set':
      return client.smembers(key);
    case 'stream':
      return client.xrange(key, '-', '+');
    default:
      return client.get(key);
  }
}
