import { EngineError } from '@slowwave/engine';
import { Queue, type RedisQueueBackend, Worker } from 'bullmq';
import type { Redis, RedisOptions } from 'ioredis';
import { QUEUE_OPTIONS, type QueueConnection } from './connection.ts';
import { redisJobStates } from './job-states.ts';
import { redisTurnOrder } from './order/redis-turn-order.ts';
import { checkRedis } from './redis-check.ts';

/** The braces keep all keys of the queues on one node of a Redis Cluster, which the library's scripts need. */
const PREFIX = '{slowwave}';
/** From quick to every two seconds: a server that restarts is found again before anybody notices. */
const SLOWEST_RECONNECT_MS = 2_000;
const RECONNECT_STEP_MS = 100;

const WRITER = {
  // A caller hears at once that the server is away, instead of waiting in a line that only memory limits.
  enableOfflineQueue: false,
  maxRetriesPerRequest: 1,
} as const satisfies RedisOptions;

const READER = {
  // A worker has nothing else to do than wait for its server; the library requires it for blocking calls.
  maxRetriesPerRequest: null,
} as const satisfies RedisOptions;

/** Queues in Redis. The URL may hold a password; it is in no message. */
export function redisConnection(url: string): QueueConnection {
  const place = placeOf(url);
  return {
    place,
    ready: () => checkRedis(url, place),
    openQueue: (name) => {
      const queue: Queue = new Queue(name, {
        ...QUEUE_OPTIONS,
        connection: { url, ...WRITER, retryStrategy: reconnectUnless(() => queue.closing !== undefined) },
        prefix: PREFIX,
        // Both would make calls at once, which fail for good while the connection is being made: `ready` has checked.
        skipWaitingForReady: true,
        skipVersionCheck: true,
      });
      return queue;
    },
    openWorker: (name, processor, options) => {
      const worker: Worker = new Worker(name, processor, {
        ...options,
        connection: { url, ...READER, retryStrategy: reconnectUnless(() => worker.closing !== undefined) },
        prefix: PREFIX,
      });
      return worker;
    },
    turnOrder: (queue) => redisTurnOrder(PREFIX, () => clientOf(queue)),
    jobStates: (queue) => redisJobStates(PREFIX, () => clientOf(queue)),
    forgetEvents: async (queue) => void (await queue.trimEvents(0)),
    close: async () => {},
  };
}

/** The queue's own connection to its server, which fails calls at once while it is away. */
async function clientOf(queue: Queue): Promise<Redis> {
  const { client } = queue.getBackend() as unknown as RedisQueueBackend;
  return (await client) as unknown as Redis; // the library hands ours out in its own words
}

/** When to try again; never after a close, which would wait for a server that is away, and the process with it. */
function reconnectUnless(closing: () => boolean): (times: number) => number | null {
  return (times) => (closing() ? null : Math.min(times * RECONNECT_STEP_MS, SLOWEST_RECONNECT_MS));
}

/** The server of a URL without user, password and settings. */
function placeOf(url: string): string {
  const parsed = URL.parse(url);
  if (parsed === null || !['redis:', 'rediss:'].includes(parsed.protocol) || parsed.hostname === '') {
    throw new EngineError(
      'expected the Redis URL to look like redis://host:6379/0 or rediss://user:password@host:6379, got something else; correct REDIS_URL',
      { code: 'queue_unavailable', retryable: false },
    );
  }
  return `${parsed.protocol}//${parsed.hostname}:${parsed.port === '' ? '6379' : parsed.port}`;
}
