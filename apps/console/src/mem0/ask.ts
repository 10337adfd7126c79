import type { Problem } from '@slowwave/contracts';
import {
  type App,
  countMore,
  type FastifyRequest,
  type HttpLog,
  problem,
  readToTheEnd,
  report,
  USER_HEADER,
} from '@slowwave/http';
import { type Json, queryText } from './format.ts';

/** A request to our own API. */
interface Call {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** With its query. */
  readonly path: string;
  readonly body?: object;
}

/** Calls our own API with the caller's key, so that nothing is allowed here that is not allowed there. */
export type Ask = <Answer>(request: FastifyRequest, call: Call) => Promise<Answer>;

/** A refusal of our own API, to be sent in mem0's format. */
class RefusedError extends Error {
  readonly statusCode: number;
  readonly code: string;
  readonly headers: Readonly<Record<string, string>>;

  constructor(
    status: number,
    { code, detail }: Pick<Problem, 'code' | 'detail'>,
    headers: Record<string, string> = {},
  ) {
    super(detail);
    this.name = 'RefusedError';
    this.statusCode = status;
    this.code = code;
    this.headers = headers;
  }
}

/** Whether our own API refused to rerank for want of a reranker. */
export const isMissingReranker = (error: unknown): boolean =>
  error instanceof RefusedError && error.code === 'not_configured' && error.message.includes('rerank');

/** Whether our own API does not know it, or not any more. */
export const isNotFound = (error: unknown): boolean => error instanceof RefusedError && error.statusCode === 404;

/** The routes of this app, asked without a network in between. */
export const asking =
  (open: () => Promise<App>): Ask =>
  async (request, { method, path, body }) => {
    const { authorization, host, 'x-api-key': apiKey, [USER_HEADER]: user } = request.headers;
    const rooms = await open();
    const answer = await rooms.inject({
      method,
      url: path,
      // The same id, so that the audit log has the id that the caller knows.
      headers: {
        host: host ?? 'localhost',
        'x-request-id': request.id,
        ...(authorization !== undefined && { authorization }),
        ...(apiKey !== undefined && { 'x-api-key': apiKey }),
        ...(user !== undefined && { [USER_HEADER]: user }),
      },
      ...(body !== undefined && { payload: body }),
    });
    if (answer.statusCode < 400) return answer.json();
    const wait = answer.headers['retry-after'];
    throw new RefusedError(
      answer.statusCode,
      answer.json<Problem>(),
      wait === undefined ? {} : { 'retry-after': String(wait) },
    );
  };

interface Listed<T> {
  readonly results: readonly T[];
  readonly next_cursor: string | null;
}

/** Entries of a page. */
export const PAGE = 200;
/** mem0 returns the total of every list, so all of it is read; reading more would take too long. */
const MOST = 20_000;

interface Wanted {
  readonly path: string;
  readonly query?: Readonly<Record<string, string>>;
  readonly filters?: Json;
}

/** A whole list of our own API. */
export async function everything<T>(ask: Ask, request: FastifyRequest, wanted: Wanted): Promise<T[]> {
  const all: T[] = [];
  let cursor: string | undefined;
  do {
    const page: Listed<T> = await pageOf(ask, request, { ...wanted, cursor });
    all.push(...page.results);
    if (all.length > MOST) throw tooMany(wanted.path);
    cursor = page.next_cursor ?? undefined;
  } while (cursor !== undefined);
  return all;
}

/** A page of it; each but the first counts as a further request. */
export async function pageOf<T>(
  ask: Ask,
  request: FastifyRequest,
  { path, query, filters, cursor }: Wanted & { readonly cursor: string | undefined },
): Promise<Listed<T>> {
  const filter = filters === undefined ? {} : { filters: JSON.stringify(filters) };
  if (cursor !== undefined) countMore(request, 1);
  return ask(request, { method: 'GET', path: `${path}${queryText({ ...query, ...filter, limit: PAGE, cursor })}` });
}

const tooMany = (path: string) =>
  problem(
    'invalid_request',
    `expected at most ${MOST} results to count, got more; page through GET ${path} with cursor`,
  );

/** Errors in mem0's format: one text, under both names that its clients read. */
export function answerErrorsLikeMem0(app: App, log: HttpLog): void {
  app.setNotFoundHandler((request, reply) => {
    const path = request.url.split('?', 1)[0];
    const message = `there is no route ${request.method} ${path}; docs/from-mem0.md lists the supported routes of mem0`;
    return reply.code(404).send({ error: message, detail: message, code: 'not_found' });
  });
  app.setErrorHandler((thrown, request, reply) => {
    const failure = thrown instanceof RefusedError ? thrown : report(thrown, request, log);
    const { message, code, statusCode, headers } = failure;
    readToTheEnd(reply, code);
    return reply.code(statusCode).headers(headers).send({ error: message, detail: message, code });
  });
}

/** Refuses a field of mem0's API that is not supported: ignoring it would be misleading. */
export const unsupported = (field: string, instead: string) =>
  problem('invalid_request', `${field} is not supported by this server; ${instead}`);
