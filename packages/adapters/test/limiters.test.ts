import { memoryLimiter, redisLimiter } from '@slowwave/adapters/limits';
import type { Limiter } from '@slowwave/engine';
import { describeLimiter } from '@slowwave/engine/testing';
import { startRedis, type TestRedis } from '@slowwave/testkit';
import { afterAll, beforeAll } from 'vitest';

let redis: TestRedis;
beforeAll(async () => {
  redis = await startRedis();
});
afterAll(() => redis.stop());

describeLimiter('a limiter on Redis', async (limits) => redisLimiter(redis.url, limits));

// Every view of one process's memory is the same object.
const shared = new Map<string, Limiter>();
describeLimiter('a limiter in one process', async (limits) => {
  const key = JSON.stringify(limits);
  const limiter = shared.get(key) ?? memoryLimiter(limits);
  shared.set(key, limiter);
  return limiter;
});
