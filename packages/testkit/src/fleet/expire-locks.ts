import { setTimeout as sleep } from 'node:timers/promises';
import { Redis } from 'ioredis';

const QUEUE = '{slowwave}:consolidate';
/** Far longer than a turn of a test takes: who holds a turn for so long is dead. */
const STILL_MS = 2_000;

/** Lets the turns of a dead worker be taken up when the next worker starts, as if the minute of their locks were over. */
export async function expireLocks(redisPort: number): Promise<void> {
  const redis = new Redis({ host: '127.0.0.1', port: redisPort });
  try {
    const before = await locks(redis);
    await sleep(STILL_MS);
    const now = await locks(redis);
    for (const [job, token] of before) {
      if (now.get(job) !== token) continue;
      await redis.del(`${QUEUE}:${job}:lock`);
      // Where the library notes which jobs to look at when it looks for such turns, which it does when a worker starts.
      await redis.sadd(`${QUEUE}:stalled`, job);
    }
    await redis.del(`${QUEUE}:stalled-check`);
  } finally {
    redis.disconnect();
  }
}

/** Who holds each running turn. */
async function locks(redis: Redis): Promise<ReadonlyMap<string, string>> {
  const jobs = await redis.lrange(`${QUEUE}:active`, 0, -1);
  const held = await Promise.all(
    jobs.map(async (job) => [job, (await redis.get(`${QUEUE}:${job}:lock`)) ?? ''] as const),
  );
  return new Map(held);
}
