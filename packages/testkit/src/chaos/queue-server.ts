import { setTimeout as sleep } from 'node:timers/promises';
import { Queue } from 'bullmq';
import { Redis } from 'ioredis';
import { freePort } from '../ports.ts';
import { startRedis, type TestRedis } from '../redis.ts';

/** The Redis of a fleet, and what can happen to it. */
export interface QueueServer {
  readonly url: string;
  /** Ends at once, and comes back with nothing. */
  crash(downMs: number): Promise<void>;
  wipe(): Promise<void>;
  /** Puts turns in line that are there already, under other names. Answers with how many. */
  duplicate(most: number): Promise<number>;
  close(): Promise<void>;
}

/** As the product names its queue. */
const QUEUE = { name: 'consolidate', prefix: '{slowwave}' };
const WAITING = ['wait', 'delayed', 'prioritized', 'active'] as const;

export async function openQueueServer(): Promise<QueueServer> {
  const port = await freePort();
  let redis: TestRedis = await startRedis({ port });
  const { url } = redis;
  return {
    url,
    crash: async (downMs) => {
      await redis.stop();
      await sleep(downMs);
      redis = await startRedis({ port });
    },
    // One that is down comes back with nothing.
    wipe: () => redis.wipe().catch(() => {}),
    duplicate: (most) => withClient(url, (client) => duplicate(client, most)),
    close: () => redis.stop(),
  };
}

/** A connection of its own for each deed: none has to live through what happens to the server. */
async function withClient<T>(url: string, work: (client: Redis) => Promise<T>): Promise<T> {
  const client = new Redis(url, { maxRetriesPerRequest: null });
  client.on('error', () => {}); // it connects again by itself
  try {
    return await work(client);
  } finally {
    client.disconnect();
  }
}

async function duplicate(client: Redis, most: number): Promise<number> {
  const queue = new Queue(QUEUE.name, { connection: client, prefix: QUEUE.prefix });
  queue.on('error', () => {});
  const jobs = await queue.getJobs([...WAITING], 0, most - 1);
  for (const job of jobs) {
    if (job?.data === undefined) continue; // gone while it was read
    await queue.add(job.name, job.data, {
      jobId: `again-${job.id}-${process.hrtime.bigint()}`,
      removeOnComplete: true,
    });
  }
  return jobs.length;
}
