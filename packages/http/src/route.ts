import { setTimeout as sleep } from 'node:timers/promises';
import { hasImage, type MessageBody } from '@slowwave/contracts';
import type { FastifyReply, FastifyRequest, RouteOptions } from 'fastify';
import { z } from 'zod';
import { type Bounds, needScope, type RouteScope, requestTenant } from './access.ts';
import { problem } from './errors.ts';
import type { App, Routes } from './types.ts';

type Schema = z.ZodType;

/** An answer that is not only JSON: a schema by content type. */
interface Contents {
  readonly description: string;
  readonly content: Readonly<Record<string, { readonly schema: Schema }>>;
}

/** What a route answers: a schema with 200, or one by each status. The first status is the default. */
type Answers = Schema | Readonly<Record<number, Schema | Contents>>;
type AnswerOf<A> = A extends Schema ? z.input<A> : OneOf<A[keyof A]>;
type OneOf<A> = A extends Schema ? z.input<A> : unknown;

/** A request whose parts match the schemas of its route. */
interface Received<Tenant, P, Q, B, H> {
  readonly tenant: Tenant;
  readonly params: z.output<P>;
  readonly query: z.output<Q>;
  readonly body: z.output<B>;
  readonly headers: z.output<H>;
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
}

/** Everything about a route but its path. */
interface RouteNote<Deps, Tenant, P extends Schema, Q extends Schema, B extends Schema, H extends Schema, A> {
  /** The operation id: names the operation in the OpenAPI description and in clients. */
  readonly id: string;
  readonly summary: string;
  readonly description?: string;
  readonly params?: P;
  readonly query?: Q;
  readonly body?: B;
  readonly headers?: H;
  readonly answer: A;
  /** How the route limits a key for one user or app. Without it, such keys are refused. */
  readonly bounds?: Bounds;
  /** true: always recorded in the audit log. */
  readonly audited?: boolean;
  handle(deps: Deps, received: Received<Tenant, P, Q, B, H>): Promise<AnswerOf<A> | FastifyReply>;
}

/** A route that is still to be added to an app. */
type Route<Deps> = (app: App, deps: Deps) => void;

/** Declares routes of one tag: `route('GET /v1/things/:id', { …, handle })`. */
export const routesWith =
  <Deps, Tenant extends string>() =>
  (tag: string) =>
  <
    A extends Answers,
    P extends Schema = Schema,
    Q extends Schema = Schema,
    B extends Schema = Schema,
    H extends Schema = Schema,
  >(
    route: `${'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'} /v1/${string}`,
    note: RouteNote<Deps, Tenant, P, Q, B, H, A>,
  ): Route<Deps> =>
  (app, deps) => {
    const { id, summary, description, params, query, body, headers, answer, bounds, audited } = note;
    const [method = '', url = ''] = route.split(' ');
    const response = isSchema(answer) ? { 200: answer } : answer;
    const status = Number(Object.keys(response)[0]);
    const options: RouteOptions = {
      method,
      url,
      schema: given({
        ...{ operationId: id, tags: [tag], summary, description, response },
        ...{ params, querystring: query, body, headers },
      }),
      config: given({ bounds, audited }),
      handler: (request, reply) => {
        const { params, query, body, headers } = request;
        const tenant = requestTenant(request);
        reply.code(status);
        return note.handle(deps, { tenant, params, query, body, headers, request, reply } as never);
      },
    };
    // Its parts are typed by the schemas of the note.
    app.route(options as never);
  };

const isSchema = (answer: Answers): answer is Schema => '_zod' in answer;

/** Routes that need the same scope of a key. */
export const group =
  <Deps>(scope: RouteScope, deps: Deps, routes: readonly Route<Deps>[]): Routes =>
  async (app) => {
    needScope(app, scope);
    for (const add of routes) add(app, deps);
  };

/** The id in a path. */
export const IdParams = z.strictObject({ id: z.string().min(1) });

/** The page a list request asks for. */
export const pageOf = (query: {
  limit: number;
  cursor?: string | undefined;
}): { limit: number; cursor: string | null } => ({
  limit: query.limit,
  cursor: query.cursor ?? null,
});

/** A list answer in the API's words. */
export const listed = <T, V>(
  page: { readonly results: readonly T[]; readonly nextCursor: string | null },
  view: (item: T) => V,
): { results: V[]; next_cursor: string | null } => ({
  results: page.results.map(view),
  next_cursor: page.nextCursor,
});

type Given<T> = { [K in keyof T as undefined extends T[K] ? never : K]: T[K] } & {
  [K in keyof T as undefined extends T[K] ? K : never]?: Exclude<T[K], undefined>;
};

/** The fields that are set. What is undefined is left out: it would count as a value. */
export const given = <T extends object>(fields: T): Given<T> =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as Given<T>;

/** The time of an ISO 8601 text that a schema has checked. */
export const momentOf = (iso: string | undefined): number | undefined =>
  iso === undefined ? undefined : Date.parse(iso);

const KEY_MAX = 256;

/** Other headers are allowed; this one is described and checked. */
export const KeyHeader = z.looseObject({ 'idempotency-key': z.string().min(1).max(KEY_MAX).optional() });

/** The idempotency key of a request, from its header or body. If both have one, they must be equal. */
export function idempotencyOf(header: string | undefined, body: string | undefined): string | null {
  if (header !== undefined && body !== undefined && header !== body) {
    throw problem(
      'invalid_request',
      'the header idempotency-key and the field idempotency_key differ; send only one of them',
    );
  }
  return header ?? body ?? null;
}

/** More than local times differ in practice. */
const AHEAD_MAX_MS = 24 * 3_600_000;

interface Timed {
  readonly timestamp?: string | undefined;
  readonly messages: readonly Pick<MessageBody, 'timestamp'>[];
}

/** Refuses messages from more than a day in the future: their unit or year is wrong, not just the time zone. */
export function checkTimes({ timestamp, messages }: Timed, now: number): void {
  refuseAhead('timestamp', timestamp, now);
  for (const [i, message] of messages.entries()) refuseAhead(`messages[${i}].timestamp`, message.timestamp, now);
}

function refuseAhead(path: string, timestamp: string | undefined, now: number): void {
  if (timestamp === undefined || Date.parse(timestamp) - now <= AHEAD_MAX_MS) return;
  const message =
    `expected a time at most 24 hours in the future, got ${timestamp}; it is ${new Date(now).toISOString()}. ` +
    'Send the time when the message was said, with the UTC offset of the speaker, like 2026-03-01T09:30:00+09:00';
  throw problem('invalid_request', `${path}: ${message}`, { errors: [{ path, message }] });
}

/** false: images are refused; else which hosts they may be on, by the same rules as for webhooks. */
export type ImagesTaken = false | { mayName(host: string): boolean };

type Taken = Exclude<ImagesTaken, false>;

/** Refuses images that cannot be described: all without an image model, else those that it cannot or must not load. */
export function checkImages(messages: readonly MessageBody[], taken: ImagesTaken): void {
  for (const [i, { content }] of messages.entries()) {
    if (typeof content === 'string' || !hasImage(content)) continue;
    if (taken === false) throw refusal(`messages[${i}].content`, NO_MODEL);
    for (const [part, { type, ...rest }] of content.entries()) {
      const mistake = type === 'image_url' && 'image_url' in rest ? mistakeIn(rest.image_url.url, taken) : null;
      if (mistake !== null) throw refusal(`messages[${i}].content[${part}].image_url.url`, mistake);
    }
  }
}

const NO_MODEL =
  'expected text, got an image, and no image model is configured; set SLOWWAVE_IMAGE_MODEL, or send a description ' +
  'as text';

const refusal = (path: string, message: string) =>
  problem('unsupported_content', `${path}: ${message}`, { errors: [{ path, message }] });

function mistakeIn(url: string, taken: Taken): string | null {
  return url.startsWith('data:') ? mistakeInData(url) : mistakeInAddress(url, taken);
}

const DATA = /^data:image\/(?:png|jpe?g|gif|webp);base64,(?=[A-Za-z0-9+/])/u;
const BASE64 = /^[A-Za-z0-9+/]+={0,2}$/u;

function mistakeInData(url: string): string | null {
  const head = DATA.exec(url)?.[0];
  if (head === undefined) {
    return `expected data:image/png, jpeg, gif or webp in base64, got ${JSON.stringify(url.slice(0, 40))}`;
  }
  return BASE64.test(url.slice(head.length)) ? null : 'expected base64 after the comma, got other characters';
}

/** The model server loads it, so addresses inside its network must not be reachable this way. */
function mistakeInAddress(text: string, taken: Taken): string | null {
  const url = URL.parse(text);
  if (url === null || !['http:', 'https:'].includes(url.protocol)) {
    return 'expected an http, https or data URL, got something else';
  }
  if (url.username !== '' || url.password !== '') return 'expected a URL without a user name and password';
  const host = url.hostname
    .replace(/^\[(.*)\]$/u, '$1')
    .replace(/\.$/u, '')
    .toLowerCase();
  return taken.mayName(host)
    ? null
    : `expected a public host, got ${host}; send the image as a data URL, or ask the operator to add the host to ` +
        'SLOWWAVE_ALLOW_PRIVATE_URLS';
}

/** Short at first, for batches that are nearly done; then longer, so that many waiting callers stay cheap. */
const FIRST_PAUSE_MS = 10;
const LONGEST_PAUSE_MS = 100;
const GROWTH = 1.5;

export interface Polled<T> {
  readonly done: boolean;
  readonly value: T;
}

/** Checks until it is done, the time is up or the signal aborts, and returns the last value. Checks at least once. */
export async function longPoll<T>(check: () => Promise<Polled<T>>, waitMs: number, signal: AbortSignal): Promise<T> {
  const until = performance.now() + waitMs;
  let pause = FIRST_PAUSE_MS;
  for (;;) {
    const { done, value } = await check();
    const left = until - performance.now();
    if (done || left <= 0 || signal.aborted) return value;
    await pauseFor(Math.min(pause, left), signal);
    pause = Math.min(pause * GROWTH, LONGEST_PAUSE_MS);
  }
}

/** Waiting requests of one key per process: each polls the ledger. */
const WAITING_MAX = 500;
const waiting = new Map<string, number>();

/**
 * Aborts when the caller disconnects or the service stops. Throws a problem if too many requests of the same key are
 * already waiting.
 */
export function waitSignal(reply: FastifyReply): AbortSignal {
  const who = reply.request.principal?.keyId ?? '';
  const others = waiting.get(who) ?? 0;
  if (others >= WAITING_MAX) throw tooManyWait();
  waiting.set(who, others + 1);
  const gone = new AbortController();
  reply.raw.once('close', () => {
    gone.abort();
    const left = (waiting.get(who) ?? 1) - 1;
    if (left > 0) waiting.set(who, left);
    else waiting.delete(who);
  });
  return AbortSignal.any([gone.signal, reply.server.stopping]);
}

const tooManyWait = () =>
  problem(
    'too_many_requests',
    `this key already has ${WAITING_MAX} waiting requests, which is the limit; send the ` +
      'request without wait, or retry later',
    {
      headers: { 'retry-after': '1' },
    },
  );

async function pauseFor(ms: number, signal: AbortSignal): Promise<void> {
  try {
    await sleep(ms, undefined, { signal });
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}
