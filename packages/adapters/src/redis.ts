import { createRequire } from 'node:module';
import type { Redis, RedisOptions } from 'ioredis';

const require = createRequire(import.meta.url);

/**
 * A connection to Redis. The library is loaded with the first one only: it has a class that extends String, and once a program
 * has one, V8 takes almost twice as long for whatever reads texts sign by sign.
 */
export function newRedis(url: string, options: Omit<RedisOptions, 'replyMapping'>): Redis {
  const library = require('ioredis') as typeof import('ioredis');
  return new library.Redis(url, options);
}
