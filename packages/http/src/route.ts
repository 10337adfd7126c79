import { createHash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { FastifyReply, FastifyRequest, RouteOptions } from 'fastify';
import { z } from 'zod';
import { type Bounds, needScope, type RouteScope, requestTenant } from './access.ts';
import { otherCursor, problem, tooManyRequests } from './errors.ts';
import type { App, Routes } from './shell.ts';

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
  /** Whether the scope subject opens it, too: people may do that with their own memories. It needs bounds. */
  readonly subject?: true;
  /** true: always recorded in the audit log. false: only if it is refused, since it is polled. */
  readonly audited?: boolean;
  /** What it does about owners that sleep; see docs/cold.md. Without it they wake. */
  readonly asleep?: 'read' | 'stay';
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
    const { id, summary, description, params, query, body, headers, answer, bounds, audited, subject, asleep } = note;
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
      config: given({ bounds, audited, subject, asleep }),
      handler: async (request, reply) => {
        const { params, headers } = request;
        const tenant = requestTenant(request);
        const [query, body] = [cursorOf(id, request.query), cursorOf(id, request.body)];
        reply.code(status);
        return cursorFor(
          id,
          await note.handle(deps, { tenant, params, query, body, headers, request, reply } as never),
        );
      },
    };
    // Its parts are typed by the schemas of the note.
    app.route(options as never);
  };

/** A cursor begins with a mark of its list: where another list would go on from it, nobody knows. */
const listMark = (id: string): string => createHash('sha256').update(id).digest('base64url').slice(0, MARK);
const MARK = 4;

function cursorFor(id: string, answer: unknown): unknown {
  const { next_cursor: next } = (answer ?? {}) as { readonly next_cursor?: unknown };
  return typeof next === 'string' ? { ...(answer as object), next_cursor: listMark(id) + next } : answer;
}

function cursorOf(id: string, given: unknown): unknown {
  const { cursor } = (given ?? {}) as { readonly cursor?: unknown };
  if (typeof cursor !== 'string') return given;
  if (!cursor.startsWith(listMark(id))) throw otherCursor();
  return { ...(given as object), cursor: cursor.slice(MARK) };
}

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

/** Short at first, for batches that are nearly done; then longer, so that many waiting callers stay cheap. */
const FIRST_PAUSE_MS = 10;
const LONGEST_PAUSE_MS = 100;
const GROWTH = 1.5;

interface Polled<T> {
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
  const leave = (): void => {
    gone.abort();
    const left = (waiting.get(who) ?? 1) - 1;
    if (left > 0) waiting.set(who, left);
    else waiting.delete(who);
  };
  // Whoever hung up before this was reached is not heard any more.
  if (reply.raw.closed) leave();
  else reply.raw.once('close', leave);
  return AbortSignal.any([gone.signal, reply.server.stopping]);
}

const tooManyWait = () =>
  tooManyRequests(
    `this key already has ${WAITING_MAX} waiting requests, which is the limit; send the request without wait, or retry later`,
    1,
  );

async function pauseFor(ms: number, signal: AbortSignal): Promise<void> {
  try {
    await sleep(ms, undefined, { signal });
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}
