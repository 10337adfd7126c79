import { createRequire } from 'node:module';
import type { Log, VectorCache } from '@slowwave/engine';
import type { Redis, RedisOptions } from 'ioredis';

const require = createRequire(import.meta.url);

/** A server by its URL, or with it some nodes of a cluster, as host:port; the others are found. */
export interface RedisPlace {
  readonly url: string;
  readonly nodes?: readonly string[];
}

type Options = Omit<RedisOptions, 'replyMapping'>;

/**
 * A connection to Redis. The library is loaded with the first one only: it has a class that extends String, and once a program
 * has one, V8 takes almost twice as long for whatever reads texts sign by sign.
 */
export function newRedis({ url, nodes = [] }: RedisPlace, options: Options): Redis {
  const library = require('ioredis') as typeof import('ioredis');
  if (nodes.length === 0) return new library.Redis(url, options);
  const cluster = new library.Cluster([hostOf(url), ...nodes], clusterOptions(url, options));
  return cluster as unknown as Redis; // what is used of a server a cluster can do, each command on the node of its key
}

/** A node that was master a moment before is asked where its slots are now; another one is elected within seconds. */
const SLOTS_REFRESH_MS = 2_000;
const SLOTS_LIMIT_MS = 2_000;
const FAILOVER_STEP_MS = 100;

function clusterOptions(url: string, given: Options) {
  const { retryStrategy, enableOfflineQueue, lazyConnect, ...each } = given;
  const { username, password, protocol } = new URL(url);
  const account = {
    ...(username !== '' && { username: decodeURIComponent(username) }),
    ...(password !== '' && { password: decodeURIComponent(password) }),
    ...(protocol === 'rediss:' && { tls: {} }),
  };
  return {
    redisOptions: { ...each, ...account },
    slotsRefreshInterval: SLOTS_REFRESH_MS,
    slotsRefreshTimeout: SLOTS_LIMIT_MS,
    retryDelayOnFailover: FAILOVER_STEP_MS,
    retryDelayOnClusterDown: FAILOVER_STEP_MS,
    ...(enableOfflineQueue !== undefined && { enableOfflineQueue }),
    ...(lazyConnect !== undefined && { lazyConnect }),
    ...(retryStrategy && { clusterRetryStrategy: (times: number) => Number(retryStrategy(times)) || null }),
  };
}

const PORT = '6379';

function hostOf(url: string): string {
  const { hostname, port } = new URL(url);
  return `${hostname}:${port || PORT}`;
}

/** Long enough for people who ask the same again; short, for this server is the queue's and drops nothing by itself. */
const KEPT_MS = 600_000;
/** So many are put a second, and no more: 12,000 at a time from each process, 75 MB at 1,536 dimensions. */
const PUTS_PER_SECOND = 20;
/** A server nearby answers within 1 ms; to embed again takes a hundred. */
const ANSWER_LIMIT_MS = 20;
/** After a failure it is left alone, so that a server that is away costs one search a little, and not all. */
const LEFT_ALONE_MS = 2_000;
const RECONNECT_MS = 2_000;
/** After a call that was never answered the connection is replaced: what lies between may have forgotten it. */
const SILENCE_MS = 5_000;
/** Of an idle connection, so that its end is noticed. */
const KEEP_ALIVE_MS = 10_000;

/** Vectors of questions on Redis, for all processes that search. Keys are hashes; nothing that was asked is stored. */
export function redisVectors(url: string, log: Log, nodes: readonly string[] = []): VectorCache {
  const redis = newRedis(
    { url, nodes },
    {
      enableOfflineQueue: false,
      maxRetriesPerRequest: 0,
      commandTimeout: ANSWER_LIMIT_MS,
      socketTimeout: SILENCE_MS,
      keepAlive: KEEP_ALIVE_MS,
      retryStrategy: () => RECONNECT_MS,
    },
  );
  redis.on('error', () => {}); // every call notices by itself
  let aloneUntil = 0;
  const failed = (error: unknown): null => {
    aloneUntil = performance.now() + LEFT_ALONE_MS;
    log.debug({ error: String(error) }, 'the shared cache of query vectors did not answer; continuing without it');
    return null;
  };
  const isAsked = (): boolean => performance.now() >= aloneUntil;
  const mayPut = perSecond(PUTS_PER_SECOND);
  return {
    get: async (key) => {
      if (!isAsked()) return null;
      return redis.getBuffer(nameOf(key)).then(vectorIn, failed);
    },
    put: (key, vector) => {
      if (isAsked() && mayPut()) redis.set(nameOf(key), bytesOf(vector), 'PX', KEPT_MS).catch(failed);
    },
    close: async () => redis.disconnect(),
  };
}

const nameOf = (key: string): string => `{slowwave}:query-vectors:${key}`;

const bytesOf = ({ buffer, byteOffset, byteLength }: Float32Array): Buffer =>
  Buffer.from(buffer, byteOffset, byteLength);

/** null: not there, or not what was put. A copy, for a buffer of the connection begins at any byte. */
function vectorIn(bytes: Buffer | null): Float32Array | null {
  if (bytes === null || bytes.length === 0 || bytes.length % Float32Array.BYTES_PER_ELEMENT !== 0) return null;
  return new Float32Array(Uint8Array.from(bytes).buffer);
}

function perSecond(limit: number): () => boolean {
  let second = 0;
  let done = 0;
  return () => {
    const now = Math.floor(performance.now() / 1_000);
    if (now !== second) done = 0;
    second = now;
    done += 1;
    return done <= limit;
  };
}
