import { Readable } from 'node:stream';
import type { FastifyRequest } from 'fastify';
import { principalOf } from './access.ts';
import { problem } from './errors.ts';
import type { App } from './types.ts';

const SECOND_MS = 1_000;
/** The burst that an idle key may send, in seconds of its rate. */
const BURST_S = 2;
/** Above this number, buckets that are full again are removed. */
const BUCKETS_MAX = 10_000;

interface Bucket {
  left: number;
  at: number;
}

/** The bucket of each request. */
const counted = new WeakMap<FastifyRequest, Bucket>();

/**
 * Counts a request as several. It is still completed; later requests of the key wait until the bucket has recovered.
 */
export function countMore(request: FastifyRequest, requests: number): void {
  const bucket = counted.get(request);
  if (bucket !== undefined) bucket.left -= Math.max(0, requests);
}

/** Limits the requests per second of each key, per process. The operator's static key is not limited. */
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

/** Items that count as one request: as many as the longest page of a list. */
const THINGS = 200;

/** How many requests a request counts as; less than one is one. */
interface Work {
  /** By the body, before anything is done. */
  readonly sent?: (body: Fields) => number;
  /** By the response. */
  readonly done?: (answer: Fields) => number;
}

type Fields = Readonly<Record<string, unknown>>;

/** Items that are read or stored together. */
const things = (count: number): number => Math.ceil(count / THINGS);
const listIn = (fields: Fields, name: string): readonly unknown[] => {
  const list = fields[name];
  return Array.isArray(list) ? list : [];
};
const numberIn = (fields: Fields, name: string): number => (typeof fields[name] === 'number' ? fields[name] : 0);
const messages: Work = { sent: (body) => things(listIn(body, 'messages').length) };
const memories: Work = { sent: (body) => listIn(body, 'memories').length };
/** The chat model is asked before anything is searched for. */
const rewrite: Work = { sent: (body) => (body.rewrite === true ? 2 : 1) };
const changed: Work = { done: (answer) => numberIn(answer, 'changed') };

/**
 * Every route whose work grows beyond a page with its body or its response. Single writes count one by one. Lists count by
 * page on every route.
 */
export const WORK: Readonly<Record<string, Work>> = {
  'POST /v1/batches': messages,
  'POST /v1/consolidations/preview': messages,
  'POST /mem0/v1/memories': messages,
  'POST /mem0/v3/memories/add': messages,
  'POST /mem0/memories': messages,
  'PUT /mem0/v1/batch': memories,
  'DELETE /mem0/v1/batch': memories,
  'POST /v1/replays': { sent: ({ filter }) => listIn(fieldsOf(filter), 'batch_ids').length },
  'DELETE /v1/memories': { done: (answer) => numberIn(answer, 'deleted') },
  'DELETE /v1/ids/memories': { done: (answer) => numberIn(answer, 'deleted') + numberIn(answer, 'kept') },
  'POST /v1/webhooks/:id/deliveries/replay': { done: (answer) => things(numberIn(answer, 'replayed')) },
  'POST /v1/consolidations/:id/undo': changed,
  'POST /v1/undos/:id/redo': changed,
  'POST /v1/users/:id/rollback': changed,
  'GET /v1/users/:id/without-nights': changed,
  'POST /v1/search': rewrite,
  'POST /v1/context': rewrite,
  'POST /v1/recall': { done: (answer) => listIn(answer, 'trail').length },
  'GET /v1/graph': {
    done: (answer) => things(Math.max(listIn(answer, 'relations').length, listIn(answer, 'entities').length)),
  },
};

/** Counts requests that are the work of several. Streamed responses count while they are sent. */
export function registerWork(app: App): void {
  app.addHook('preHandler', async (request) => {
    count(request, workOf(request).sent?.(fieldsOf(request.body)));
  });
  app.addHook('preSerialization', async (request, _reply, answer) => {
    const fields = fieldsOf(answer);
    const { done } = workOf(request);
    if (done !== undefined) count(request, done(fields));
    else if (isOwn(request)) count(request, things(entriesIn(fields)));
    return answer;
  });
  app.addHook('onSend', async (request, _reply, answer) =>
    answer instanceof Readable && isOwn(request) ? Readable.from(countedParts(request, answer)) : answer,
  );
}

function workOf({ method, routeOptions }: FastifyRequest): Work {
  return WORK[`${method} ${routeOptions.url}`] ?? {};
}

/** The routes of mem0 count the pages that they read themselves. */
const isOwn = ({ routeOptions }: FastifyRequest): boolean => routeOptions.url?.startsWith('/v1/') === true;

const count = (request: FastifyRequest, requests = 1): void => {
  if (requests > 1) countMore(request, requests - 1);
};

/** The entries of a list, with their sources and history. */
function entriesIn(answer: Fields): number {
  const results = [...listIn(answer, 'results'), ...listIn(answer, 'messages'), ...listIn(answer, 'relations')];
  return results.reduce<number>((sum, result) => {
    const { sources, history } = fieldsOf(result);
    return sum + 1 + (Array.isArray(sources) ? sources.length : 0) + (Array.isArray(history) ? history.length : 0);
  }, 0);
}

async function* countedParts(request: FastifyRequest, parts: AsyncIterable<unknown>): AsyncGenerator<unknown> {
  let sent = 0;
  for await (const part of parts) {
    sent += 1;
    if (sent % THINGS === 0) countMore(request, 1);
    yield part;
  }
}

const fieldsOf = (value: unknown): Fields => (typeof value === 'object' && value !== null ? (value as Fields) : {});
