import { setTimeout as sleep } from 'node:timers/promises';
import { startRedis, startTcpProxy, type TestRedis } from '@slowwave/testkit';
import { Queue } from 'bullmq';
import { Redis } from 'ioredis';
import type { Random } from './random.ts';

/** The Redis of a fleet, and what can happen to it. */
export interface QueueServer {
  readonly url: string;
  /** Ends at once, and comes back with nothing. */
  crash(downMs: number): Promise<void>;
  wipe(): Promise<void>;
  /** Connections there are now carry no answers any more, and maybe no questions, and do not end. */
  silence(random: Random): void;
  /** Removes one of the keys in which the queue is kept: some of its lists, or anything. Answers with its name. */
  orphan(random: Random): Promise<string | null>;
  /** Puts turns in line that are there already, under other names. Answers with how many. */
  duplicate(most: number): Promise<number>;
  close(): Promise<void>;
}

/** As the product names its queue. */
const QUEUE = { name: 'consolidate', prefix: '{slowwave}' };
const WAITING = ['wait', 'delayed', 'prioritized', 'active'] as const;

export async function openQueueServer(): Promise<QueueServer> {
  let redis: TestRedis = await startRedis();
  const { port, url } = redis;
  const proxy = await startTcpProxy({ to: port });
  return {
    url: Object.assign(new URL(url), { port: String(proxy.port) }).href,
    crash: async (downMs) => {
      await Promise.all([proxy.refuse(), redis.stop()]);
      await sleep(downMs);
      redis = await startRedis({ port });
      await proxy.accept();
    },
    silence: (random) => proxy.silence(random.pick(['questions', 'nothing'])),
    orphan: (random) => withClient(url, (client) => orphan(client, random)),
    // One that is down comes back with nothing.
    wipe: () => redis.wipe().catch(() => {}),
    duplicate: (most) => withClient(url, (client) => duplicate(client, most)),
    close: async () => {
      await Promise.all([proxy.close(), redis.stop()]);
    },
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

/** The lists of jobs of the queue: what is in none of them is found by nobody. */
const LISTS = ['wait', 'delayed', 'prioritized', 'active', 'marker'];
const LIST_SHARE = 0.6;

async function orphan(client: Redis, random: Random): Promise<string | null> {
  const keys = await client.keys(`${QUEUE.prefix}:*`);
  const lists = keys.filter((key) => LISTS.includes(key.slice(key.lastIndexOf(':') + 1)));
  const among = lists.length > 0 && random.chance(LIST_SHARE) ? lists : keys;
  if (among.length === 0) return null;
  const key = random.pick(among);
  await client.del(key);
  return key;
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
