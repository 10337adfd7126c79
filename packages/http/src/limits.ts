import { isUtf8 } from 'node:buffer';
import { Readable } from 'node:stream';
import { errorCodes, type FastifyRequest } from 'fastify';
import { principalOf } from './access.ts';
import { type ProblemError, problem, tooManyRequests } from './errors.ts';
import { type Fields, fieldsOf } from './owners.ts';
import type { App } from './shell.ts';

/*
 * How large a body may be.
 */

const KIB = 1_024;
const MIB = 1_024 * KIB;

/**
 * The largest bodies, in bytes: enough for the other limits of a route at twelve bytes per character, which an emoji
 * needs if a client escapes everything but ASCII.
 */
const FORM = 4 * KIB;
const USUAL = 64 * KIB;
/** A memory of 8,000 characters and 16,000 of metadata; or the ids of a thousand memories. */
const MEMORY = 256 * KIB;
/**
 * The state of a run, of 64,000 characters; a query of 20,000 characters and 130,000 of filters; two prompts of 20,000, four instructions of 4,000, 50 categories and
 * 100 prices; or prompts, instructions and the ids of a thousand batches. The latest turns of a search have only what its other
 * fields leave: rewriting reads the end of them, and no more fits a model.
 */
const LONG = MIB;
/** A transcript of some hundred thousand tokens; or a thousand memories. */
const CONVERSATION = 8 * MIB;

/** Lines of a bundle, of which one may have what a conversation has, escaped once more. As much as a proxy lets by. */
const LINES = 2 * CONVERSATION;

/** The largest body of each route, in bytes, unless it is the default. */
export const BODY_LIMITS: Readonly<Record<string, number>> = {
  'POST /login': FORM,
  'POST /logout': FORM,
  'POST /v1/memories': MEMORY,
  'PATCH /v1/memories/:id': MEMORY,
  'PUT /mem0/v1/memories/:id': MEMORY,
  'PUT /mem0/memories/:id': MEMORY,
  'DELETE /mem0/v1/batch': MEMORY,
  'PUT /v1/settings': LONG,
  'PUT /v1/runs/:id/state': LONG,
  'PATCH /v1/runs/:id/state': LONG,
  'POST /v1/replays': LONG,
  'POST /v1/suites': LINES,
  'POST /v1/suites/:name/runs': LONG,
  'POST /v1/canaries': LONG,
  'PATCH /mem0/api/v1/orgs/organizations/:org/projects/:project': LONG,
  'POST /v1/search': LONG,
  'POST /v1/recall': LONG,
  'POST /mem0/v1/memories/search': LONG,
  'POST /mem0/v2/memories/search': LONG,
  'POST /mem0/v3/memories/search': LONG,
  'POST /mem0/search': LONG,
  'POST /v1/batches': CONVERSATION,
  'POST /v1/consolidations/preview': CONVERSATION,
  'POST /v1/context': CONVERSATION,
  'POST /mcp': CONVERSATION,
  'POST /mem0/v1/memories': CONVERSATION,
  'POST /mem0/v3/memories/add': CONVERSATION,
  'POST /mem0/memories': CONVERSATION,
  'PUT /mem0/v1/batch': CONVERSATION,
  'POST /v1/bundle/erasures': MEMORY,
  'PUT /v1/bundle/settings': LONG,
  'POST /v1/bundle/imports/:id/lines': LINES,
  'PUT /v1/cell/slots': LONG,
  'PUT /v1/cell/tenant': LINES,
};

/** Sets the body limit of every route that is added from now on. Larger bodies are refused before they are read. */
export function registerBodyLimits(app: App): void {
  app.addHook('onRoute', (route) => {
    const own = [route.method].flat().map((method) => BODY_LIMITS[`${method} ${route.url}`] ?? USUAL);
    route.bodyLimit = Math.max(...own);
  });
}

/*
 * What a JSON body may have in it.
 */

/** The deepest nesting of a JSON body; deeper ones would overflow the stack of later code. */
const DEPTH_MAX = 64;
/** The most fields and items of a JSON body: several times those of a batch of 2,000 messages. */
const VALUES_MAX = 100_000;
/** The fewest bytes of a value: itself and a comma, or its brackets. */
const VALUE_BYTES_MIN = 2;

/** Accepts only JSON bodies. An empty one is reported by the route's schema. */
export function readOnlyJson(app: App): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser<Buffer>('application/json', { parseAs: 'buffer' }, (_request, body, done) => {
    done(null, body.length === 0 ? undefined : read(body));
  });
}

/**
 * The values of a large body are counted before it is parsed: objects with very many fields are slower than anything else
 * of their size, here and later. The depth is checked after parsing, which takes half the time.
 */
function read(body: Buffer): unknown {
  if (hasTooMany(body)) throw tooMany();
  const value = parsed(body);
  if (isObject(value) && needsCare(body)) lookThrough(value, DEPTH_MAX);
  return value;
}

/** A byte order mark, which is not part of the JSON. */
const MARK = 0xfeff;

function parsed(body: Buffer): unknown {
  // Bytes that are no characters would all become the same one, and so would ids that contain them.
  if (!isUtf8(body)) throw noJson();
  const text = body.toString();
  try {
    return JSON.parse(text.charCodeAt(0) === MARK ? text.slice(1) : text);
  } catch {
    throw noJson();
  }
}

const QUOTE = 0x22;
const COMMA = 0x2c;
const BACKSLASH = 0x5c;
const BRACKET = 0x5b;
const BRACE = 0x7b;
const BRACE_END = 0x7d;
/** The highest code of white space between two parts. */
const SPACE_MAX = 0x20;

/** Names that reach the prototype of an object. */
const PROTO = '__proto__';
const CONSTRUCTOR = 'constructor';

/** Most large bodies have too few brackets to be deep, and contain neither the names nor an escape for them. */
const needsCare = (body: Buffer): boolean =>
  countUpTo(DEPTH_MAX, body, BRACKET) + countUpTo(DEPTH_MAX, body, BRACE) > DEPTH_MAX ||
  body.includes(BACKSLASH) ||
  body.includes(PROTO) ||
  body.includes(CONSTRUCTOR);

/** Refuses bodies that are too deep or could reach a prototype. */
function lookThrough(value: object, levels: number): void {
  if (levels === 0) throw tooDeep();
  if (Array.isArray(value)) {
    for (const item of value) if (isObject(item)) lookThrough(item, levels - 1);
    return;
  }
  const fields = value as Readonly<Record<string, unknown>>;
  for (const name in fields) {
    const inside = fields[name];
    if (name === PROTO || (name === CONSTRUCTOR && isObject(inside) && Object.hasOwn(inside, 'prototype')))
      throw noJson();
    if (isObject(inside)) lookThrough(inside, levels - 1);
  }
}

const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null;

/** Up to this many bytes are searched with indexOf: each hit costs more than scanning a hundred bytes. */
const SOUGHT_MAX = 500;

function countUpTo(most: number, body: Buffer, sought: number): number {
  let count = 0;
  for (let at = body.indexOf(sought); at !== -1 && count <= most; at = body.indexOf(sought, at + 1)) count += 1;
  return count;
}

/** Most large bodies have too few commas and brackets to need an exact count. */
const mayHaveMany = (body: Buffer): boolean =>
  body.length > VALUE_BYTES_MIN * VALUES_MAX &&
  [COMMA, BRACE, BRACKET].some((sought) => countUpTo(SOUGHT_MAX, body, sought) > SOUGHT_MAX);

/**
 * Scans bytes until there are too many values: all relevant characters are ASCII. Invalid JSON is left to the parser.
 */
function hasTooMany(body: Buffer): boolean {
  if (!mayHaveMany(body)) return false;
  const { length } = body; // reading it per byte would double the cost
  let values = 0;
  for (let at = 0; at < length; ) {
    const code = body[at] ?? 0;
    at += 1;
    if (code === QUOTE) at = behindText(body, at);
    // Brackets and braces differ by one bit.
    else if (code === COMMA || (code | 0x20) === BRACE) {
      values += code === COMMA ? 1 : firstIn(body, at);
      if (values > VALUES_MAX) return true;
    }
  }
  return false;
}

/** 1 if the object or list that opens here is not empty: its first value is counted here, others with their comma. */
function firstIn(body: Buffer, from: number): number {
  let at = from;
  while (at < body.length && (body[at] ?? 0) <= SPACE_MAX) at += 1;
  return at === body.length || ((body[at] ?? 0) | 0x20) === BRACE_END ? 0 : 1;
}

/** Bytes of a string that are scanned before searching its end: most strings are shorter. */
const LOOKED_AT = 64;

/** The position after the string whose first character is at `first`. */
function behindText(body: Buffer, first: number): number {
  let at = first;
  for (;;) {
    for (const near = Math.min(at + LOOKED_AT, body.length); at < near; at += 1) {
      const code = body[at] ?? 0;
      if (code === QUOTE) return at + 1;
      if (code === BACKSLASH) at += 1;
    }
    const quote = body.indexOf(QUOTE, at);
    if (quote === -1) return body.length;
    if (!isEscaped(body, quote, at)) return quote + 1;
    at = quote + 1;
  }
}

/** Whether an odd number of backslashes precedes it, not counting any before `from`. */
function isEscaped(body: Buffer, at: number, from: number): boolean {
  let first = at;
  while (first > from && body[first - 1] === BACKSLASH) first -= 1;
  return (at - first) % 2 === 1;
}

const noJson = (): Error => new errorCodes.FST_ERR_CTP_INVALID_JSON_BODY();

const tooDeep = (): ProblemError =>
  problem('invalid_request', `expected the body to be nested at most ${DEPTH_MAX} levels deep, got more; flatten it`);

const tooMany = (): ProblemError =>
  problem(
    'invalid_request',
    `expected the body to have at most ${VALUES_MAX} fields and items, got more; send it in smaller parts`,
  );

/*
 * How many requests a key may send.
 */

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
    if (!allowed) throw tooOften(perSecond, Math.max(1, Math.ceil((1 - bucket.left) / perSecond)));
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

const tooOften = (perSecond: number, seconds: number) =>
  tooManyRequests(
    `this key is limited to ${perSecond} requests per second and exceeded that; retry in ${seconds} s`,
    seconds,
  );

/*
 * How many requests a request counts as.
 */

/** Items that count as one request: as many as the longest page of a list. */
const THINGS = 200;

/** How many requests a request counts as; less than one is one. */
interface Work {
  /** By the body, before anything is done. */
  readonly sent?: (body: Fields) => number;
  /** By the response. */
  readonly done?: (answer: Fields) => number;
}

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
