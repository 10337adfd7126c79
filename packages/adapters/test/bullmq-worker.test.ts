import type { Nudge, TurnHandler, Verdict } from '@slowwave/engine';
import { newNudge, recordingLog } from '@slowwave/engine-testing';
import { startRedis, type TestRedis } from '@slowwave/testkit';
import { Redis } from 'ioredis';
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { openSchedule, redisConnection, startTurnWorker } from '../src/bullmq/index.ts';

const PATIENCE = { timeout: 60_000, interval: 20 };
const DONE: Verdict = { kind: 'done', next: null };
let redis: TestRedis;
let client: Redis;

beforeAll(async () => {
  redis = await startRedis();
  client = new Redis(redis.url);
});
beforeEach(async () => {
  await client.flushall();
});
afterAll(async () => {
  await client.quit();
  await redis.stop();
});

const nudgeOf = (lane: string): Nudge => newNudge(`lane_${lane}`);
const open = (log = recordingLog()) => openSchedule({ connection: redisConnection(redis.url), log });
const work = (handler: TurnHandler, options: { handOverMs?: number; log?: ReturnType<typeof recordingLog> } = {}) =>
  startTurnWorker({ connection: redisConnection(redis.url), concurrency: 5, handler, log: recordingLog(), ...options });

describe('the worker of turns', () => {
  test('a turn that does not stop is left behind when the time for handing over is up', async () => {
    const log = recordingLog();
    const schedule = await open();
    const gate = Promise.withResolvers<Verdict>();
    const begun = Promise.withResolvers<void>();
    const worker = work(
      () => {
        begun.resolve();
        return gate.promise;
      },
      { handOverMs: 50, log },
    );
    await schedule.nudge([nudgeOf('a')]);
    await begun.promise;
    await worker.close();
    expect(log.lines).toContainEqual(
      expect.objectContaining({ level: 'warn', fields: { queue: 'consolidate', jobs: 1 } }),
    );
    expect(await schedule.statesOf([nudgeOf('a')])).toEqual(['active']);
    gate.resolve(DONE); // ends as if nobody waited: its lock will expire
    await schedule.close();
  });

  test('a handler that throws leaves a line in the log, and its turn in the queue', async () => {
    const log = recordingLog();
    const schedule = await open();
    const worker = work(() => Promise.reject(new Error('a bug')), { log });
    await schedule.nudge([nudgeOf('a')]);
    await vi.waitFor(
      () =>
        expect(log.lines).toContainEqual({
          level: 'error',
          fields: { lane: 'lane_a', generation: 1, error: 'a bug' },
          message: 'a turn failed unexpectedly; it will be retried',
        }),
      PATIENCE,
    );
    await vi.waitFor(async () => expect(await schedule.statesOf([nudgeOf('a')])).toEqual(['scheduled']), PATIENCE);
    await Promise.all([worker.close(), schedule.close()]);
  });

  test('a turn that lost its lock and cannot be handed back is not failed by this worker', async () => {
    const log = recordingLog();
    const schedule = await open();
    const worker = work(
      async () => {
        const [lock] = await client.keys('{slowwave}:consolidate:*:lock');
        await client.set(lock ?? '', 'another worker');
        throw new Error('too late');
      },
      { log },
    );
    await schedule.nudge([nudgeOf('a')]);
    await vi.waitFor(
      () =>
        expect(log.lines.map((line) => line.message)).toContain(
          'could not return a job to the queue; it is due again when its lock expires',
        ),
      PATIENCE,
    );
    await worker.close();
    expect(await schedule.statesOf([nudgeOf('a')])).toEqual(['active']);
    await schedule.close();
  });

  test('the turn ends as usual when the next one cannot be nudged', async () => {
    const log = recordingLog();
    const schedule = await open();
    const broken = newNudge('not:allowed');
    const worker = work(async () => ({ kind: 'done', next: broken }), { log });
    await schedule.nudge([nudgeOf('a')]);
    await vi.waitFor(async () => expect(await schedule.statesOf([nudgeOf('a')])).toEqual(['finished']), PATIENCE);
    expect(log.lines.map((line) => line.message)).toContain('could not nudge the next turn; the sweep will find it');
    await Promise.all([worker.close(), schedule.close()]);
  });

  test('jobs hold ids and nothing else', async () => {
    const schedule = await open();
    await schedule.nudge([nudgeOf('a')]);
    const job = await client.hgetall('{slowwave}:consolidate:lane_a~1');
    expect(JSON.parse(job.data ?? '')).toEqual({ lane: 'lane_a', generation: 1, tenant: 'default' });
    await schedule.close();
  });

  test('whatever is kept in the server is on one node of a cluster', async () => {
    const schedule = await open();
    const worker = work(async () => DONE);
    await schedule.nudge([nudgeOf('a')]);
    await vi.waitFor(async () => expect(await schedule.statesOf([nudgeOf('a')])).toEqual(['finished']), PATIENCE);
    const keys = await client.keys('*');
    expect(keys.length).toBeGreaterThan(3);
    expect(keys.filter((key) => !key.startsWith('{slowwave}:'))).toEqual([]);
    await Promise.all([worker.close(), schedule.close()]);
  });

  test('of completed turns the last thousand are kept', async () => {
    const schedule = await open();
    const worker = work(async () => DONE);
    const turns = Array.from({ length: 1_100 }, (_, i) => nudgeOf(`n${i}`));
    await schedule.nudge(turns);
    await vi.waitFor(async () => expect(await client.zcard('{slowwave}:consolidate:completed')).toBe(1_000), PATIENCE);
    await vi.waitFor(async () => expect((await schedule.jobs()).prioritized).toBe(0), PATIENCE);
    // The last ones may still be on their way from taken to completed.
    const left = () => client.keys('{slowwave}:consolidate:lane_*');
    await vi.waitFor(async () => expect(await left()).toHaveLength(1_000), PATIENCE);
    expect(await client.zcard('{slowwave}:consolidate:completed')).toBe(1_000);
    await Promise.all([worker.close(), schedule.close()]);
  });

  test('four workers close together and every running turn is worked by somebody else', async () => {
    const schedule = await open();
    const lanes = Array.from({ length: 20 }, (_, i) => nudgeOf(String(i)));
    const workers = Array.from({ length: 4 }, () =>
      work((_turn, cancel) => new Promise((_, reject) => cancel.addEventListener('abort', () => reject(new Error())))),
    );
    await schedule.nudge(lanes);
    for (const lane of lanes) {
      await vi.waitFor(async () => expect(await schedule.statesOf([lane])).toEqual(['active']), PATIENCE);
    }
    await Promise.all(workers.map((worker) => worker.close()));
    const done: string[] = [];
    const heir = work(async ({ lane }) => {
      done.push(lane);
      return DONE;
    });
    await vi.waitFor(() => expect(done).toHaveLength(20), PATIENCE);
    expect(new Set(done).size).toBe(20);
    await Promise.all([heir.close(), schedule.close()]);
  });
});
