import { EngineError } from '@slowwave/engine';
import { Redis } from 'ioredis';
import { unavailable } from './unavailable.ts';

/** A server in reach answers in milliseconds; names that do not resolve and closed networks take their time. */
const CONNECT_LIMIT_MS = 5_000;
/** What the queue library needs. */
const OLDEST = { major: 6, minor: 2 };

/** Asks a Redis server once whether it can hold a queue; throws what is wrong and what to do. */
export async function checkRedis(url: string, place: string): Promise<void> {
  const info = parseInfo(await askInfo(url, place));
  refuseOld(place, info.get('redis_version'));
  refuseEvicting(place, info.get('maxmemory_policy'));
}

async function askInfo(url: string, place: string): Promise<string> {
  const redis = new Redis(url, {
    lazyConnect: true,
    connectTimeout: CONNECT_LIMIT_MS,
    commandTimeout: CONNECT_LIMIT_MS,
    retryStrategy: () => null, // once: whoever starts the process decides about another try
  });
  let told: Error | null = null; // the reason; the call itself only says that the connection is closed
  redis.on('error', (error) => {
    told = error;
  });
  try {
    await redis.connect();
    return await redis.info();
  } catch (error) {
    throw unavailable(place, told ?? error);
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

/** Any other policy silently deletes jobs when memory is short. Servers that have no such setting do not tell one. */
function refuseEvicting(place: string, policy = 'noeviction'): void {
  if (policy === 'noeviction') return;
  throw new EngineError(
    `expected maxmemory-policy noeviction of Redis at ${place}, got ${policy}, which deletes jobs when memory is short; ` +
      'set it in redis.conf or run: redis-cli CONFIG SET maxmemory-policy noeviction',
    { code: 'queue_unavailable', retryable: false },
  );
}
