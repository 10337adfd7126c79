import { EngineError, type LaneId, type TurnState } from '@slowwave/engine';
import { Queue, type RedisQueueBackend, Worker } from 'bullmq';
import type { Redis, RedisOptions } from 'ioredis';
import { newRedis, type RedisPlace } from '../redis.ts';
import { newPulse, type Pulse, QUEUE_OPTIONS, type QueueConnection, unavailable } from './connection.ts';
import {
  ASLEEP_MS,
  BEFORE_FIRST,
  FAR_AHEAD,
  inPortions,
  type JobStates,
  type JobsOfLane,
  LAST_ROUND,
  prefixOf,
  type TurnOrder,
  UNPLACED,
  type Waiting,
} from './jobs.ts';

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

/** The library keeps the time of a delayed job times this, to count those of one millisecond. */
const DELAYED_SCORE = 4_096;

/**
 * KEYS[1] the queue; ARGV: the time until which a job counts as about to be taken, then ids. A job without its own key is
 * taken as absent wherever its id still stands: adding it again makes it whole. One that is locked is being worked on.
 */
const STATES = `
local base = KEYS[1] .. ':'
local function has(set, id) return redis.call('ZSCORE', base .. set, id) end
local function stateOf(id)
  if redis.call('EXISTS', base .. id) == 0 then return 'absent' end
  local delayed = has('delayed', id)
  if delayed then
    if tonumber(delayed) / ${DELAYED_SCORE} > tonumber(ARGV[1]) then return 'asleep' end
    return 'scheduled'
  end
  if has('prioritized', id) then return 'scheduled' end
  if has('completed', id) or has('failed', id) then return 'finished' end
  if redis.call('EXISTS', base .. id .. ':lock') == 1 then return 'active' end
  if redis.call('LPOS', base .. 'active', id) then return 'active' end
  if redis.call('LPOS', base .. 'wait', id) or redis.call('LPOS', base .. 'paused', id) then return 'scheduled' end
  redis.call('DEL', base .. id, base .. id .. ':logs')
  return 'absent'
end
local states = {}
for i = 2, #ARGV do states[i - 1] = stateOf(ARGV[i]) end
return states
`;

/** The states of jobs in Redis, as scripts see them: never in the middle of a move. */
function redisJobStates(prefix: string, client: () => Promise<Redis>): JobStates {
  return inPortions(async (queue, ids) => {
    const redis = await client();
    return (await redis.eval(STATES, 1, `${prefix}:${queue}`, Date.now() + ASLEEP_MS, ...ids)) as TurnState[];
  });
}

/** Ids looked at in one call: a millisecond of the server's time, in which it answers nobody else. */
const IDS_PER_CALL = 1_000;
const SORTED = ['delayed', 'prioritized', 'completed', 'failed'] as const;
const LISTED = ['wait', 'paused'] as const;

const isOf =
  (lane: LaneId) =>
  (id: string): boolean =>
    id === lane || id.startsWith(`${lane}~`);

const redisJobsOfLane =
  (prefix: string, client: () => Promise<Redis>): JobsOfLane =>
  async (queue, lane) => {
    const redis = await client();
    const found: string[] = [];
    for (const name of SORTED) found.push(...(await sortedIn(redis, `${prefix}:${queue}:${name}`, lane)));
    for (const name of LISTED) found.push(...(await listedIn(redis, `${prefix}:${queue}:${name}`)));
    return [...new Set(found.filter(isOf(lane)))];
  };

async function sortedIn(redis: Redis, key: string, lane: LaneId): Promise<string[]> {
  const found: string[] = [];
  let cursor = '0';
  do {
    const [next, pairs] = await redis.zscan(key, cursor, 'MATCH', `${lane}*`, 'COUNT', IDS_PER_CALL);
    found.push(...pairs.filter((_, i) => i % 2 === 0)); // each id is followed by its place
    cursor = next;
  } while (cursor !== '0');
  return found;
}

/** From the end to the beginning: new ones come at the beginning, and move nothing out of sight. */
async function listedIn(redis: Redis, key: string): Promise<string[]> {
  const found: string[] = [];
  for (let end = -1; ; end -= IDS_PER_CALL) {
    const ids = await redis.lrange(key, end - IDS_PER_CALL + 1, end);
    found.push(...ids);
    if (ids.length < IDS_PER_CALL) return found;
  }
}

/** The library's order of jobs: their priority, and as they came within it. */
const SCORE = 2 ** 32;

/** KEYS[1] the queue, ARGV how many. Answers ids and payloads in turns; a job without its own key has none. */
const UNPLACED_IN_REDIS = `
local base = KEYS[1] .. ':'
local first, last = '${UNPLACED * SCORE}', '(${(UNPLACED + 1) * SCORE}'
local found = {}
for _, id in ipairs(redis.call('ZRANGEBYSCORE', base .. 'prioritized', first, last, 'LIMIT', 0, ARGV[1])) do
  found[#found + 1] = id
  found[#found + 1] = redis.call('HGET', base .. id, 'data') or '{}'
end
return found
`;

/** KEYS[1] the queue, ARGV ids and priorities in turns. Of one priority they stay in the order in which they are given. */
const PLACE_IN_REDIS = `
local base = KEYS[1] .. ':'
for i = 1, #ARGV, 2 do
  local id, priority = ARGV[i], tonumber(ARGV[i + 1])
  local score = redis.call('ZSCORE', base .. 'prioritized', id)
  if score and math.floor(tonumber(score) / ${SCORE}) == ${UNPLACED} then
    local count = redis.call('INCR', base .. 'pc')
    redis.call('ZADD', base .. 'prioritized', priority * ${SCORE} + count % ${SCORE}, id)
    redis.call('HSET', base .. id, 'priority', priority)
  end
end
`;

function redisWaiting(prefix: string, client: () => Promise<Redis>): Waiting {
  return {
    unplaced: async (queue, limit) => {
      const found = (await (await client()).eval(UNPLACED_IN_REDIS, 1, `${prefix}:${queue}`, limit)) as string[];
      return found.flatMap((id, i) => (i % 2 === 0 ? [{ id, data: JSON.parse(found[i + 1] ?? '{}') }] : []));
    },
    place: async (queue, placed) => {
      const args = placed.flatMap(({ id, priority }) => [id, priority]);
      await (await client()).eval(PLACE_IN_REDIS, 1, `${prefix}:${queue}`, ...args);
    },
  };
}

/** KEYS[1] a hash: `round`, the latest that began, and the last round of each tenant. */
const ROUND = `
local round = tonumber(redis.call('HGET', KEYS[1], 'round') or '') or ${BEFORE_FIRST}
`;

/** ARGV: tenant, how many. */
const NEXT = `${ROUND}
local field, count = 'last:' .. ARGV[1], tonumber(ARGV[2])
local last = tonumber(redis.call('HGET', KEYS[1], field) or '') or round
if last < round or last - round > ${FAR_AHEAD} then last = round end
if last + count > ${LAST_ROUND} then
  redis.call('DEL', KEYS[1])
  last = ${BEFORE_FIRST}
end
redis.call('HSET', KEYS[1], field, last + count)
return last + 1
`;

/** ARGV: round. */
const BEGIN = `${ROUND}
local began = tonumber(ARGV[1])
if began > round and began - round <= ${FAR_AHEAD} then redis.call('HSET', KEYS[1], 'round', began) end
`;

/** The order of turns that all processes on one Redis share. Scripts, because many count at the same time. */
export function redisTurnOrder(prefix: string, client: () => Promise<Redis>): TurnOrder {
  const run = async (script: string, key: string, ...args: (string | number)[]): Promise<unknown> =>
    (await client()).eval(script, 1, `${prefix}:rounds:${key}`, ...args);
  return {
    next: async (priority, tenant, count) => Number(await run(NEXT, priority, tenant, count)),
    begin: async (priority, round) => {
      await run(BEGIN, priority, round);
    },
  };
}
