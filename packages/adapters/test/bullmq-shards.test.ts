import { setTimeout as sleep } from 'node:timers/promises';
import { QUEUES } from '@slowwave/contracts';
import type { Nudge, TenantId, TurnHandler } from '@slowwave/engine';
import { newNudge, recordingLog } from '@slowwave/engine-testing';
import { startRedis, startRedisCluster, type TestRedis, type TestRedisCluster } from '@slowwave/testkit';
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import {
  keepLocks,
  openErasureQueue,
  openSchedule,
  type QueueConnection,
  queueFor,
  redisConnection,
  shardOf,
  shardQueues,
  startTurnWorker,
} from '../src/bullmq/index.ts';
import { redisLimiter } from '../src/limits/index.ts';
import { redisVectors } from '../src/redis.ts';

const PATIENCE = { timeout: 60_000, interval: 50 };
const WITHIN_MS = 180_000;
const SHARDS = 4;
const log = recordingLog();
const open: { close(): Promise<unknown> }[] = [];

afterEach(async () => {
  for (const one of open.splice(0).reverse()) await one.close();
});

const opened = <T extends { close(): Promise<unknown> }>(one: T): T => {
  open.push(one);
  return one;
};
const workAt = async (connection: QueueConnection, handler: TurnHandler, concurrency = SHARDS): Promise<void> => {
  const { lockServer: server } = connection;
  if (server === null) throw new Error('expected a queue that processes share');
  const locks = opened(await keepLocks({ server, lockMs: 6_000, log }));
  opened(startTurnWorker({ connection, concurrency, locks, handler, log }));
};
const DONE = { kind: 'done', next: null } as const;

test('a lane is always in the same queue, and lanes are spread evenly', () => {
  const counts = Array.from({ length: SHARDS }, () => 0);
  for (let lane = 0; lane < 4_000; lane += 1) {
    const shard = shardOf(`lane_${lane}`, SHARDS);
    expect(shardOf(`lane_${lane}`, SHARDS)).toBe(shard);
    counts[shard] = (counts[shard] ?? 0) + 1;
  }
  for (const count of counts) expect(count).toBeGreaterThan(900);
  expect(shardQueues('consolidate', 3)).toEqual(['consolidate', 'consolidate-1', 'consolidate-2']);
});

describe('turns in several queues of one server', () => {
  let redis: TestRedis;
  beforeAll(async () => {
    redis = await startRedis();
  });
  afterAll(() => redis.stop());

  /** So many turns for each queue, of lanes that begin so. */
  const inEach = (count: number, nudgeOf: (lane: string) => Nudge, begin: string): Nudge[] => {
    const left = Array.from({ length: SHARDS }, () => count);
    const nudges: Nudge[] = [];
    for (let i = 0; left.some((one) => one > 0); i += 1) {
      const nudge = nudgeOf(`lane_${begin}${i}`);
      const shard = shardOf(nudge.lane, SHARDS);
      if ((left[shard] ?? 0) === 0) continue;
      left[shard] = (left[shard] ?? 0) - 1;
      nudges.push(nudge);
    }
    return nudges;
  };

  test('a tenant with many turns lets those of others pass, and backfill what is live', async () => {
    const connection = opened(redisConnection(redis.url, { shards: SHARDS }));
    const schedule = opened(await openSchedule({ connection, log }));
    const backfill = inEach(
      5,
      (lane) => newNudge(lane, { tenant: 'third' as TenantId, priority: 'backfill' }),
      'backfill',
    );
    const many = inEach(20, (lane) => newNudge(lane, { tenant: 'many' as TenantId }), 'many');
    const few = inEach(2, (lane) => newNudge(lane, { tenant: 'few' as TenantId }), 'few');
    for (const nudges of [backfill, many, few]) await schedule.nudge(nudges);
    expect(await schedule.jobs()).toMatchObject({ prioritized: 27 * SHARDS });
    expect(new Set(await schedule.statesOf(many))).toEqual(new Set(['scheduled']));
    const taken: string[][] = Array.from({ length: SHARDS }, () => []);
    await workAt(connection, async ({ lane }) => {
      taken[shardOf(lane, SHARDS)]?.push(lane.replace(/^lane_|\d+$/g, ''));
      return DONE;
    });
    await vi.waitFor(() => expect(taken.flat()).toHaveLength(27 * SHARDS), PATIENCE);
    for (const one of taken) {
      expect(one.lastIndexOf('few')).toBeLessThan(4);
      expect(one.slice(-5)).toEqual(Array.from({ length: 5 }, () => 'backfill'));
    }
  });

  test('an erasure finds what is left of a lane in whichever queue it is', async () => {
    const connection = opened(redisConnection(redis.url, { shards: SHARDS }));
    const schedule = opened(await openSchedule({ connection, log }));
    const erasures = opened(await openErasureQueue({ connection, log }));
    const nudges = inEach(1, (lane) => newNudge(lane), 'erased');
    await schedule.nudge(nudges);
    for (const { lane } of nudges) await erasures.forgetLane(lane);
    expect(await schedule.statesOf(nudges)).toEqual(nudges.map(() => 'absent'));
  });
});

describe('a Redis Cluster', () => {
  let cluster: TestRedisCluster;
  beforeAll(async () => {
    cluster = await startRedisCluster();
  }, WITHIN_MS);
  afterAll(() => cluster.stop());

  const connect = (): QueueConnection => opened(redisConnection(cluster.url, { nodes: cluster.nodes, shards: SHARDS }));

  test('shares limits and vectors of questions, whichever node they are on', async () => {
    const limiter = opened(redisLimiter(cluster.url, { requestsPerMinute: 1, tokensPerMinute: null }, cluster.nodes));
    expect(await limiter.reserve('a', 1)).toMatchObject({ kind: 'granted' });
    expect(await limiter.reserve('a', 1)).toMatchObject({ kind: 'wait' });
    const vectors = opened(redisVectors(cluster.url, log, cluster.nodes));
    await vi.waitFor(async () => {
      vectors.put('question', Float32Array.of(1, 2));
      expect(await vectors.get('question')).toEqual(Float32Array.of(1, 2));
    }, PATIENCE);
  });

  test(
    'goes on with all turns when one of its masters dies: those of the others at once, its own when it is replaced',
    async () => {
      const connection = connect();
      const schedule = opened(await openSchedule({ connection, log }));
      const turns = Array.from({ length: 80 }, (_, i) => newNudge(`lane_${i}`));
      const worked = new Set<string>();
      await workAt(connection, async ({ lane }) => {
        worked.add(lane);
        return DONE;
      });
      await schedule.nudge(turns.slice(0, 40));
      await vi.waitFor(() => expect(worked.size).toBe(40), PATIENCE);
      const [, second = ''] = shardQueues(QUEUES.consolidate.name, SHARDS);
      await cluster.killMasterOf(`{slowwave-1}:${second}:meta`);
      // As the sweep does: what the queue does not know is nudged again, second after second.
      for (const until = Date.now() + PATIENCE.timeout; worked.size < turns.length && Date.now() < until; ) {
        await schedule.nudge(turns.filter(({ lane }) => !worked.has(lane))).catch(() => {});
        await sleep(250);
      }
      expect(worked.size).toBe(turns.length);
      const queue = opened(queueFor(connection, second));
      await vi.waitFor(async () => expect(await queue.getCompletedCount()).toBeGreaterThan(0), PATIENCE);
    },
    WITHIN_MS,
  );
});
