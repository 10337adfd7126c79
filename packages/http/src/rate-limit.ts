import type { FastifyRequest } from 'fastify';
import { principalOf } from './principal.ts';
import { problem } from './problem.ts';
import type { App } from './types.ts';

const SECOND_MS = 1_000;
/** What a quiet key may ask for at once, in seconds of its rate. */
const BURST_S = 2;
/** Buckets that are full again say nothing: they are looked through when there are so many. */
const BUCKETS_MAX = 10_000;

interface Bucket {
  left: number;
  at: number;
}

/** What requests are counted against. */
const counted = new WeakMap<FastifyRequest, Bucket>();

/**
 * Counts a request that is the work of several as so many more. It is answered all the same, so that nothing ends half-way;
 * the key waits after it until that is made up for.
 */
export function countMore(request: FastifyRequest, requests: number): void {
  const bucket = counted.get(request);
  if (bucket !== undefined) bucket.left -= Math.max(0, requests);
}

/** So many requests a second of each key that was given out, in each process. The operator's own is not counted. */
export function registerRateLimit(
  app: App,
  perSecond: number,
  now: () => number = performance.now.bind(performance),
): void {
  const most = perSecond * BURST_S;
  const buckets = new Map<string, Bucket>();
  const refilled = (key: string): Bucket => {
    const at = now();
    const bucket = buckets.get(key) ?? { left: most, at };
    bucket.left = Math.min(most, bucket.left + ((at - bucket.at) / SECOND_MS) * perSecond);
    bucket.at = at;
    if (buckets.size >= BUCKETS_MAX && !buckets.has(key)) forgetFull(buckets, { most, perSecond, at });
    buckets.set(key, bucket);
    return bucket;
  };

  app.addHook('onRequest', async (request) => {
    if (request.routeOptions.config.open === true) return;
    const { keyId } = principalOf(request);
    if (keyId === null) return;
    const bucket = refilled(keyId);
    const allowed = bucket.left >= 1;
    if (allowed) bucket.left -= 1;
    counted.set(request, bucket);
    if (!allowed) throw tooMany(perSecond, Math.max(1, Math.ceil((1 - bucket.left) / perSecond)));
  });

  app.addHook('onSend', async (request, reply) => {
    const bucket = counted.get(request);
    if (bucket === undefined) return;
    reply.headers({
      'ratelimit-limit': most,
      'ratelimit-remaining': Math.max(0, Math.floor(bucket.left)),
      'ratelimit-reset': Math.ceil((most - bucket.left) / perSecond),
    });
  });
}

function forgetFull(
  buckets: Map<string, Bucket>,
  { most, perSecond, at }: { most: number; perSecond: number; at: number },
): void {
  for (const [key, bucket] of buckets) {
    if (bucket.left + ((at - bucket.at) / SECOND_MS) * perSecond >= most) buckets.delete(key);
  }
}

const tooMany = (perSecond: number, seconds: number) =>
  problem(
    'too_many_requests',
    `this key is limited to ${perSecond} requests per second and exceeded that; retry in ` + `${seconds} s`,
    {
      headers: { 'retry-after': String(seconds) },
    },
  );
