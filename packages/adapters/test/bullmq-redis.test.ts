import { QUEUES } from '@slowwave/contracts';
import type { Nudge, TurnHandler, TurnWorker } from '@slowwave/engine';
import { describeSchedule, newNudge, recordingLog } from '@slowwave/engine-testing';
import { freePort, startRedis, type TestRedis } from '@slowwave/testkit';
import { Redis } from 'ioredis';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { openSchedule, queueFor, redisConnection, startTurnWorker } from '../src/bullmq/index.ts';

const PATIENCE = { timeout: 60_000, interval: 20 };
let redis: TestRedis;

beforeAll(async () => {
  redis = await startRedis();
});
afterAll(() => redis.stop());

const nudgeOf = (lane: string, inMs = 0, generation = 1): Nudge =>
  newNudge(`lane_${lane}`, { generation, dueAt: Date.now() + inMs });
const wipe = async (): Promise<void> => {
  const client = new Redis(redis.url);
  await client.flushall();
  await client.quit();
};
const openAt = (url: string, log = recordingLog()) => openSchedule({ connection: redisConnection(url), log });
const workAt = (url: string, handler: TurnHandler, log = recordingLog()): TurnWorker =>
  startTurnWorker({ connection: redisConnection(url), concurrency: 2, handler, log });

describeSchedule('on Redis', async () => {
  await wipe();
  const connection = redisConnection(redis.url);
  const log = recordingLog();
  return {
    schedule: await openSchedule({ connection, log }),
    startWorker: (handler, concurrency) => startTurnWorker({ connection, concurrency, handler, log }),
    now: () => Date.now(),
    close: () => connection.close(),
  };
});

describe('the queue on Redis', () => {
  test('a parked turn is shown as failed, with its reason', async () => {
    await wipe();
    const schedule = await openAt(redis.url);
    const worker = workAt(redis.url, async () => ({ kind: 'parked', reason: 'the model refused it', next: null }));
    const queue = queueFor(redisConnection(redis.url), QUEUES.consolidate.name);
    await schedule.nudge([nudgeOf('a')]);
    await vi.waitFor(async () => expect(await queue.getFailedCount()).toBe(1), PATIENCE);
    const [failed] = await queue.getFailed();
    expect(failed?.failedReason).toBe('the model refused it');
    expect(failed?.data).toEqual({ lane: 'lane_a', generation: 1, tenant: 'default' });
    await Promise.all([worker.close(), schedule.close(), queue.close()]);
  });

  test('a job with a foreign payload is shown as failed and never handed to the handler', async () => {
    await wipe();
    const handler = vi.fn<TurnHandler>();
    const queue = queueFor(redisConnection(redis.url), QUEUES.consolidate.name);
    await vi.waitFor(() => queue.add('turn', { lane: 7 }, { attempts: 1 }), PATIENCE);
    const worker = workAt(redis.url, handler);
    await vi.waitFor(async () => expect(await queue.getFailedCount()).toBe(1), PATIENCE);
    expect((await queue.getFailed())[0]?.failedReason).toContain('expected a lane and a generation');
    expect(handler).not.toHaveBeenCalled();
    await Promise.all([worker.close(), queue.close()]);
  });

  test('a wiped queue takes the same nudges again', async () => {
    await wipe();
    const schedule = await openAt(redis.url);
    let worked = 0;
    const worker = workAt(redis.url, async () => {
      worked += 1;
      return { kind: 'done', next: null };
    });
    await schedule.nudge([nudgeOf('a')]);
    await vi.waitFor(async () => expect(await schedule.statesOf([nudgeOf('a')])).toEqual(['finished']), PATIENCE);
    await wipe();
    expect(await schedule.statesOf([nudgeOf('a')])).toEqual(['absent']);
    await schedule.nudge([nudgeOf('a')]);
    await vi.waitFor(() => expect(worked).toBe(2), PATIENCE);
    await Promise.all([worker.close(), schedule.close()]);
  });

  test('a queue wiped under a running turn harms nobody', async () => {
    await wipe();
    const schedule = await openAt(redis.url);
    const gate = Promise.withResolvers<void>();
    const lanes: string[] = [];
    const worker = workAt(redis.url, async ({ lane }) => {
      lanes.push(lane);
      if (lane === 'lane_a') await gate.promise;
      return { kind: 'done', next: lane === 'lane_a' ? nudgeOf('next') : null };
    });
    await schedule.nudge([nudgeOf('a')]);
    await vi.waitFor(() => expect(lanes).toEqual(['lane_a']), PATIENCE);
    await wipe();
    gate.resolve();
    await vi.waitFor(() => expect(lanes).toEqual(['lane_a', 'lane_next']), PATIENCE);
    await Promise.all([worker.close(), schedule.close()]);
  });
});

describe('a Redis that goes away', () => {
  test('calls fail at once, nothing crashes, and work goes on when it is back', async () => {
    const first = await startRedis();
    const log = recordingLog();
    const schedule = await openAt(first.url, log);
    const worked: string[] = [];
    const worker = workAt(
      first.url,
      async ({ lane }) => {
        worked.push(lane);
        return { kind: 'done', next: null };
      },
      log,
    );
    await schedule.nudge([nudgeOf('before')]);
    await vi.waitFor(async () => expect(await schedule.statesOf([nudgeOf('before')])).toEqual(['finished']), PATIENCE);
    await first.stop();
    await vi.waitFor(() => expect(log.lines.length).toBeGreaterThan(0), PATIENCE);
    await expect(schedule.nudge([nudgeOf('lost')])).rejects.toMatchObject({
      name: 'EngineError',
      code: 'queue_unavailable',
      retryable: true,
      message: expect.stringContaining(`redis://127.0.0.1:${first.port}`),
    });
    await expect(schedule.check()).rejects.toMatchObject({ code: 'queue_unavailable' });

    const second = await startRedis({ port: first.port });
    await vi.waitFor(() => schedule.nudge([nudgeOf('after')]), PATIENCE);
    await vi.waitFor(() => expect(worked).toEqual(['lane_before', 'lane_after']), PATIENCE);
    await Promise.all([worker.close(), schedule.close()]);
    await second.stop();
  });

  test('schedule and worker close while it is away', async () => {
    const gone = await startRedis();
    const schedule = await openAt(gone.url);
    const worker = workAt(gone.url, async () => ({ kind: 'done', next: null }));
    await schedule.nudge([nudgeOf('a')]);
    await vi.waitFor(async () => expect(await schedule.statesOf([nudgeOf('a')])).toEqual(['finished']), PATIENCE);
    await gone.stop();
    await expect(Promise.all([worker.close(), schedule.close()])).resolves.toBeDefined();
  });

  test('a worker started before its Redis works once it is there', async () => {
    const port = await freePort();
    let worked = 0;
    const worker = workAt(`redis://127.0.0.1:${port}`, async () => {
      worked += 1;
      return { kind: 'done', next: null };
    });
    const late = await startRedis({ port });
    const schedule = await openAt(late.url);
    await schedule.nudge([nudgeOf('a')]);
    await vi.waitFor(() => expect(worked).toBe(1), PATIENCE);
    await Promise.all([worker.close(), schedule.close()]);
    await late.stop();
  });
});

describe('a Redis that cannot hold the queue', () => {
  test('one that is not there is named without its password', async () => {
    const port = await freePort();
    const opening = openAt(`redis://user:s3cret@127.0.0.1:${port}`);
    await expect(opening).rejects.toMatchObject({ code: 'queue_unavailable', retryable: true });
    const error = await opening.catch((thrown: Error) => thrown);
    expect(String(error)).toContain(`redis://127.0.0.1:${port}`);
    expect(String(error)).toContain('ECONNREFUSED');
    expect(String(error)).not.toContain('s3cret');
  });

  test('one that deletes jobs when memory is short is refused, with what to set', async () => {
    const evicting = await startRedis({ args: ['--maxmemory-policy', 'allkeys-lru'] });
    await expect(openAt(evicting.url)).rejects.toMatchObject({
      code: 'queue_unavailable',
      retryable: false,
      message: expect.stringContaining('CONFIG SET maxmemory-policy noeviction'),
    });
    await evicting.stop();
  });

  test('one with another password is refused, with its own words', async () => {
    const guarded = await startRedis({ args: ['--requirepass', 'right'] });
    const wrong = guarded.url.replace('//', '//:wrong@');
    await expect(openAt(wrong)).rejects.toMatchObject({ message: expect.stringMatching(/WRONGPASS/) });
    const schedule = await openAt(guarded.url.replace('//', '//:right@'));
    await expect(schedule.check()).resolves.toBeUndefined();
    await schedule.close();
    await guarded.stop();
  });

  test.each(['localhost:6379', 'http://localhost', '', 'redis://'])('"%s" is no Redis URL', (url) => {
    expect(() => redisConnection(url)).toThrow(/REDIS_URL/);
  });
});
