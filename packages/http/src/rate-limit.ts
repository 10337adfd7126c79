import { Readable } from 'node:stream';
import type { FastifyRequest } from 'fastify';
import { principalOf } from './access.ts';
import { problem } from './errors.ts';
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

/** Things that one request may read or hand in: as many as a page of a list has at most. */
const THINGS = 200;

/** What a request of a key counts as, in requests; less than one is one. */
interface Work {
  /** By what is sent, before anything is done. */
  readonly sent?: (body: Fields) => number;
  /** By what was done, as the answer tells. */
  readonly done?: (answer: Fields) => number;
}

type Fields = Readonly<Record<string, unknown>>;

/** Many at once are read or stored together. */
const things = (count: number): number => Math.ceil(count / THINGS);
const listIn = (fields: Fields, name: string): readonly unknown[] => {
  const list = fields[name];
  return Array.isArray(list) ? list : [];
};
const numberIn = (fields: Fields, name: string): number => (typeof fields[name] === 'number' ? fields[name] : 0);
const messages: Work = { sent: (body) => things(listIn(body, 'messages').length) };
const memories: Work = { sent: (body) => listIn(body, 'memories').length };
const changed: Work = { done: (answer) => numberIn(answer, 'changed') };

/**
 * Every route whose work grows with what is sent, or with what is answered, beyond a page. What is written one by one counts
 * one by one; lists count by their pages, whatever route they are on.
 */
export const WORK: Readonly<Record<string, Work>> = {
  'POST /v1/batches': messages,
  'POST /v1/consolidations/preview': messages,
  'POST /mem0/v3/memories/add': messages,
  'POST /mem0/memories': messages,
  'PUT /mem0/v1/batch': memories,
  'DELETE /mem0/v1/batch': memories,
  'POST /v1/replays': { sent: ({ filter }) => listIn(fieldsOf(filter), 'batch_ids').length },
  'DELETE /v1/memories': { done: (answer) => numberIn(answer, 'deleted') },
  'POST /v1/webhooks/:id/deliveries/replay': { done: (answer) => things(numberIn(answer, 'replayed')) },
  'POST /v1/consolidations/:id/undo': changed,
  'POST /v1/undos/:id/redo': changed,
  'POST /v1/users/:id/rollback': changed,
  'POST /v1/recall': { done: (answer) => listIn(answer, 'trail').length },
  'GET /v1/graph': {
    done: (answer) => things(Math.max(listIn(answer, 'relations').length, listIn(answer, 'entities').length)),
  },
};

/** Counts what is more than one request's work for as many as it is. Answers that are streamed count while they are read. */
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

/** The routes of mem0 read pages of ours, and count them where they do. */
const isOwn = ({ routeOptions }: FastifyRequest): boolean => routeOptions.url?.startsWith('/v1/') === true;

const count = (request: FastifyRequest, requests = 1): void => {
  if (requests > 1) countMore(request, requests - 1);
};

/** Of a list: its entries, with the sources and the history that come with each. */
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
