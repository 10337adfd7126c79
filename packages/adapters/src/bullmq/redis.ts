import { EngineError } from '@slowwave/engine';
import { Queue, type RedisQueueBackend, Worker } from 'bullmq';
import type { Redis, RedisOptions } from 'ioredis';
import { newRedis, type RedisPlace } from '../redis.ts';
import { newPulse, type Pulse, QUEUE_OPTIONS, type QueueConnection, unavailable } from './connection.ts';
import { prefixOf } from './jobs.ts';
import { redisJobStates, redisJobsOfLane, redisTurnOrder, redisWaiting } from './redis-scripts.ts';

/** From quick to every two seconds: a server that restarts is found again before anybody notices. */
const SLOWEST_RECONNECT_MS = 2_000;
const RECONNECT_STEP_MS = 100;

/** Of an idle connection: what stands between forgets it no sooner, and its end is noticed within a minute. */
const KEEP_ALIVE_MS = 10_000;
/**
 * A connection on which something was sent, and nothing has come for so long, is replaced: what lies between may have
 * forgotten it without a word. Longer than a server takes under load. What was not answered is sent again, so
 * that a caller may not even notice. A worker's connection has more time, for its process has more to do.
 */
const WRITER_SILENCE_MS = 6_000;
const READER_SILENCE_MS = 8_000;
/** With the limits above: all connections that fell silent are replaced within 15 s, be they used or not. */
const ASK_EVERY_MS = 5_000;
/** A worker asks for work again after waiting so long for it, which has to be well before its connection is replaced. */
const WAIT_FOR_WORK_MAX_S = 5;
/** After a failed call of its own; the library's 15 s are longer than any server needs to come back. */
const WORKER_RETRY_MS = 1_000;

const WRITER = {
  // A caller hears at once that the server is away, instead of waiting in a line that only memory limits.
  enableOfflineQueue: false,
  maxRetriesPerRequest: 1,
  socketTimeout: WRITER_SILENCE_MS,
  keepAlive: KEEP_ALIVE_MS,
} as const satisfies RedisOptions;

const READER = {
  // A worker has nothing else to do than wait for its server; the library requires it for blocking calls.
  maxRetriesPerRequest: null,
  socketTimeout: READER_SILENCE_MS,
  keepAlive: KEEP_ALIVE_MS,
} as const satisfies RedisOptions;

interface RedisQueueOptions extends Omit<RedisPlace, 'url'> {
  /** Over how many queues turns are spread. */
  readonly shards?: number;
}

/** Queues in Redis. The URL may hold a password; it is in no message. */
export function redisConnection(url: string, { nodes = [], shards = 1 }: RedisQueueOptions = {}): QueueConnection {
  const place = placeOf(url);
  const pulse = newPulse();
  const clusters = clustersAt({ url, nodes });
  return {
    place,
    pulse,
    shards,
    lockServer: { kind: 'redis', url, nodes },
    ready: () => checkRedis({ url, nodes }, place),
    openQueue: (name) => {
      const closing = (): boolean => queue.closing !== undefined;
      const queue: Queue = new Queue(name, {
        ...QUEUE_OPTIONS,
        connection: clusters?.of(WRITER) ?? { url, ...WRITER, retryStrategy: reconnectUnless(closing) },
        prefix: prefixOf(name),
        // Both would make calls at once, which fail for good while the connection is being made: `ready` has checked.
        skipWaitingForReady: true,
        skipVersionCheck: true,
      });
      askNowAndThen(() => clientOf(queue), { pulse, closing });
      return queue;
    },
    openWorker: (name, processor, options) => {
      const closing = (): boolean => worker.closing !== undefined;
      const worker: Worker = new WaitingWorker(name, processor, {
        ...options,
        runRetryDelay: WORKER_RETRY_MS,
        drainDelay: WAIT_FOR_WORK_MAX_S,
        connection: clusters?.of(READER) ?? { url, ...READER, retryStrategy: reconnectUnless(closing) },
        prefix: prefixOf(name),
      });
      askNowAndThen(() => clientOf(worker), { pulse, closing });
      return worker;
    },
    turnOrder: (queue) => redisTurnOrder(prefixOf(queue.name), () => clientOf(queue)),
    waiting: (queue) => redisWaiting(prefixOf(queue.name), () => clientOf(queue)),
    jobStates: (queue) => redisJobStates(prefixOf(queue.name), () => clientOf(queue)),
    jobsOfLane: (queue) => redisJobsOfLane(prefixOf(queue.name), () => clientOf(queue)),
    forgetEvents: async (queue) => void (await queue.trimEvents(0)),
    close: async () => clusters?.close(),
  };
}

interface Clusters {
  of(options: RedisOptions): Redis;
  close(): void;
}

/**
 * Clients of a cluster, each shared by all that have the same options: a client has a connection to each node. The library takes them as
 * they are, and makes another one for what waits. null: it is one server, to which each queue and worker has a connection of its own.
 */
function clustersAt(place: RedisPlace): Clusters | null {
  if (place.nodes === undefined || place.nodes.length === 0) return null;
  const clients = new Map<RedisOptions, Redis>();
  return {
    of: (options) => {
      const client =
        clients.get(options) ?? newRedis(place, { ...options, retryStrategy: reconnectUnless(() => false) });
      clients.set(options, client);
      return client;
    },
    close: () => {
      for (const client of clients.values()) client.disconnect();
    },
  };
}

/** A worker whose longest wait for a job that is due later is no longer than its wait for any job. */
class WaitingWorker extends Worker {
  override get maximumBlockTimeout(): number {
    return WAIT_FOR_WORK_MAX_S;
  }
}

/** Asks something on a connection that is seldom used, so that its silence is known before it is needed. */
function askNowAndThen(
  client: () => Promise<Redis>,
  { pulse, closing }: { pulse: Pulse; closing: () => boolean },
): void {
  const timer = setInterval(() => {
    if (closing()) return clearInterval(timer);
    client()
      .then((redis) => (redis.status === 'ready' ? redis.ping().then(pulse.heard) : undefined))
      .catch(() => {}); // the connection itself reports what is wrong
  }, ASK_EVERY_MS);
  timer.unref();
}

/** The own connection of a queue or worker to its server; that of a queue fails calls at once while it is away. */
async function clientOf(queue: Queue | Worker): Promise<Redis> {
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

/** A server in reach answers in milliseconds; names that do not resolve and closed networks take their time. */
const CONNECT_LIMIT_MS = 5_000;
/** What the queue library needs. */
const OLDEST = { major: 6, minor: 2 };

/** Asks a Redis server once whether it can hold a queue; throws what is wrong and what to do. */
async function checkRedis(at: RedisPlace, place: string): Promise<void> {
  const info = parseInfo(await askInfo(at, place));
  refuseOld(place, info.get('redis_version'));
  refuseEvicting(place, info.get('maxmemory_policy'));
}

async function askInfo(at: RedisPlace, place: string): Promise<string> {
  const redis = newRedis(at, {
    lazyConnect: true,
    connectTimeout: CONNECT_LIMIT_MS,
    commandTimeout: CONNECT_LIMIT_MS,
    retryStrategy: () => null, // once: whoever starts the process decides about another try
  });
  let reason: Error | null = null; // the call itself only says that the connection is closed
  redis.on('error', (error) => {
    reason = error;
  });
  try {
    await redis.connect();
    return await redis.info();
  } catch (error) {
    throw unavailable(place, reason ?? error);
  } finally {
    redis.disconnect();
  }
}

function parseInfo(text: string): Map<string, string> {
  const pairs = text.split(/\r?\n/).map((line) => /^([a-z_]+):(.*)$/.exec(line));
  return new Map(pairs.flatMap((pair) => (pair === null ? [] : [[pair[1] ?? '', pair[2] ?? '']])));
}

function refuseOld(place: string, version = ''): void {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  if (major > OLDEST.major || (major === OLDEST.major && minor >= OLDEST.minor)) return;
  throw new EngineError(
    `expected Redis ${OLDEST.major}.${OLDEST.minor} or newer at ${place}, got ${version || 'no version'}; upgrade the server`,
    { code: 'queue_unavailable', retryable: false },
  );
}

/** Any other policy silently deletes jobs when memory is short. Servers that have no such setting do not name one. */
function refuseEvicting(place: string, policy = 'noeviction'): void {
  if (policy === 'noeviction') return;
  throw new EngineError(
    `expected Redis at ${place} to have maxmemory-policy noeviction, got ${policy}, which deletes jobs when memory is short; ` +
      'set it in redis.conf or run: redis-cli CONFIG SET maxmemory-policy noeviction',
    { code: 'queue_unavailable', retryable: false },
  );
}
