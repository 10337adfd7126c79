import { memoryLimiter, postgresLimiter, redisLimiter } from '@slowwave/adapters/limits';
import type { Limiter } from '@slowwave/engine';
import { describeLimiter, recordingLog } from '@slowwave/engine-testing';
import { startPostgres, startRedis, type TestPostgres, type TestRedis } from '@slowwave/testkit';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

const NO_LIMITS = { requestsPerMinute: null, tokensPerMinute: null };
const log = recordingLog();

describe('limiters on servers', () => {
  let redis: TestRedis;
  let postgres: TestPostgres;
  beforeAll(async () => {
    [redis, postgres] = await Promise.all([startRedis(), startPostgres()]);
  });
  afterAll(async () => {
    await Promise.all([redis.stop(), postgres.stop()]);
  });

  describeLimiter('a limiter on Redis', async (limits) => redisLimiter(redis.url, limits));
  describeLimiter('a limiter on PostgreSQL', async (limits) => postgresLimiter({ url: postgres.url, log }, limits));

  const opens: [string, () => Limiter][] = [
    ['Redis', () => redisLimiter(redis.url, NO_LIMITS)],
    ['PostgreSQL', () => postgresLimiter({ url: postgres.url, log }, NO_LIMITS)],
  ];

  it.each(opens)('without limits on %s workers share what the provider said all the same', async (_name, open) => {
    const [one, other] = [open(), open()];
    const model = 'unlimited';
    for (let i = 0; i < 20; i += 1) expect(await one.reserve(model, 1_000_000)).toMatchObject({ kind: 'granted' });
    await one.pause(model, 30_000);
    expect(await other.reserve(model, 1)).toMatchObject({ kind: 'wait' });
    await Promise.all([one.close(), other.close()]);
  });

  it.each([
    ['Redis', () => redisLimiter('redis://127.0.0.1:1', NO_LIMITS)],
    ['PostgreSQL', () => postgresLimiter({ url: 'postgres://u@127.0.0.1:1/none', log }, NO_LIMITS)],
  ])('where %s is away work waits, and no try is counted', async (_name, open) => {
    const limiter = open();
    const away = { code: 'queue_unavailable', retryable: true, countsAsTry: false };
    await expect(limiter.reserve('some', 1)).rejects.toMatchObject(away);
    await limiter.close();
  });
});

// Every view of one process's memory is the same object.
const shared = new Map<string, Limiter>();
describeLimiter('a limiter in one process', async (limits) => {
  const key = JSON.stringify(limits);
  const limiter = shared.get(key) ?? memoryLimiter(limits);
  shared.set(key, limiter);
  return limiter;
});
