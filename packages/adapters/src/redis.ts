import { createRequire } from 'node:module';
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
