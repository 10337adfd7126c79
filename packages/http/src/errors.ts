import { STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import { ERROR_STATUS, type ErrorCode, type Problem } from '@slowwave/contracts';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { App, HttpLog } from './shell.ts';

export const PROBLEM_TYPE = 'application/problem+json; charset=utf-8';

interface Telling {
  readonly log: HttpLog;
  /** Which methods a path has. */
  readonly allowed: (path: string) => readonly string[];
  /** What to say of something that is not found; null: that. */
  readonly instead: (request: FastifyRequest) => Promise<ProblemError | null>;
}

/** Sends every failure as problem+json, and logs those of the server. */
export function registerErrors(app: App, { log, allowed, instead }: Telling): void {
  app.decorateRequest('problemCode', null);
  app.setErrorHandler(async (error, request, reply) => {
    const reported = report(error, request, log);
    const failure = (reported.code === 'not_found' ? await instead(request) : null) ?? reported;
    readToTheEnd(reply, failure.code);
    return sendProblem(reply, failure);
  });
  app.setNotFoundHandler((request, reply) => sendProblem(reply, unknownRoute(request, allowed(pathOf(request)))));
}

/** Reads and drops the rest of a body that is too large, so that its sender sees the response. */
export function readToTheEnd(reply: FastifyReply, code: string): void {
  if (code === 'body_too_large') reply.removeHeader('connection');
}

export function sendProblem(reply: FastifyReply, error: ProblemError): FastifyReply {
  reply.request.problemCode = error.code;
  const body = problemBody(error, pathOf(reply.request));
  return reply.code(error.statusCode).headers(error.headers).type(PROBLEM_TYPE).send(JSON.stringify(body));
}

/** Anything thrown while handling a request, as a problem; failures of the server are logged. */
export function report(thrown: unknown, request: FastifyRequest, log: HttpLog): ProblemError {
  const failure = tooLarge(thrown, request) ?? translate(thrown);
  request.problemCode = failure.code;
  if (failure.statusCode >= 500) {
    const fields = { err: failure.cause ?? failure, request: request.id, method: request.method, code: failure.code };
    log[failure.code === 'internal' ? 'error' : 'warn'](fields, 'a request failed');
  }
  return failure;
}

/** With the sizes, which only the request has. */
function tooLarge(thrown: unknown, { headers, routeOptions }: FastifyRequest): ProblemError | null {
  if (!(thrown instanceof Error) || !('code' in thrown) || thrown.code !== 'FST_ERR_CTP_BODY_TOO_LARGE') return null;
  const size = headers['content-length'];
  const detail = `expected a body of at most ${routeOptions.bodyLimit} bytes, got ${size ?? 'more'}; send it in smaller parts`;
  return problem('body_too_large', detail, { cause: thrown });
}

function unknownRoute(request: FastifyRequest, methods: readonly string[]): ProblemError {
  const path = shorten(pathOf(request));
  if (methods.length === 0) {
    return problem('route_not_found', `there is no route ${request.method} ${path}; see /docs for all routes`);
  }
  const allow = methods.join(', ');
  return problem('method_not_allowed', `${path} does not allow ${request.method}; use ${allow}`, {
    headers: { allow },
  });
}

const pathOf = (request: FastifyRequest): string => request.url.split('?', 1)[0] ?? request.url;

const HEADERS_TOO_LARGE = 'HPE_HEADER_OVERFLOW';
const TOO_SLOW = 'ERR_HTTP_REQUEST_TIMEOUT';

/** Responds to broken HTTP, headers that are too large, and headers that take too long. */
export function answerBrokenRequest(error: Error & { code?: string }, socket: Socket): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy();
    return;
  }
  const { status, detail } = brokenRequest(error.code);
  const title = STATUS_CODES[status] ?? 'Bad Request';
  const body = JSON.stringify({ type: 'about:blank', title, status, code: 'invalid_request', detail });
  const head = `HTTP/1.1 ${status} ${title}\r\ncontent-type: ${PROBLEM_TYPE}\r\nconnection: close\r\n`;
  socket.end(`${head}content-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`);
}

function brokenRequest(code: string | undefined): { status: number; detail: string } {
  if (code === HEADERS_TOO_LARGE)
    return { status: 431, detail: 'expected the URL and headers together to be at most 16 KiB, got more; send less' };
  if (code === TOO_SLOW) return { status: 408, detail: 'the request took too long to arrive; retry' };
  return { status: 400, detail: 'the request is not valid HTTP/1.1; check the client and any proxy in between' };
}

/** Seconds to wait before retrying while a dependency is unavailable. */
const RETRY_AFTER_S = '2';

/** Anything thrown, as a problem for the caller. Internals only go to the log. */
export function translate(thrown: unknown): ProblemError {
  if (thrown instanceof ProblemError) return thrown;
  const { name, code, statusCode } = factsOf(thrown);
  if (name === 'InvalidCursorError') return otherCursor(thrown);
  if (name === 'FilterError') return ofFilter(thrown);
  if (name === 'EngineError') return ofEngine(code, thrown);
  return ofFramework(code, statusCode, thrown);
}

/** Names the field, what was expected and what was got. */
function ofFilter(thrown: unknown): ProblemError {
  const { path, expected, got } = thrown as Readonly<Record<'path' | 'expected' | 'got', string>>;
  const errors = [{ path, message: `expected ${expected}, got ${got}` }];
  return problem('invalid_request', `the filter is not valid: ${messageOf(thrown)}`, { errors, cause: thrown });
}

const UNAVAILABLE: Readonly<Record<string, string>> = {
  ledger_unavailable: 'the ledger is temporarily unavailable; nothing was changed, retry',
  queue_unavailable: 'the queue is temporarily unavailable; retry',
  index_unavailable: 'the index is temporarily unavailable; retry',
  owner_asleep: 'the data of this owner is being put to sleep or woken; retry',
  segment_unavailable:
    'this owner sleeps, and its segment cannot be read; retry, and run slowwave doctor if it happens again',
  cancelled: 'the service is shutting down; retry',
};

function ofEngine(code: string, cause: unknown): ProblemError {
  const away = UNAVAILABLE[code];
  if (away !== undefined) return problem('unavailable', away, { cause, headers: { 'retry-after': RETRY_AFTER_S } });
  if (code === 'unsupported_content') return problem('unsupported_content', messageOf(cause), { cause });
  if (code === 'budget_exhausted' || code === 'use_held') return ofBudget(cause);
  if (code === 'owner_away') return ofAway(cause);
  if (code.startsWith('model_') || NOT_ASKED.includes(code)) {
    const detail = `the model did not return a usable answer (${code}); retry, or check the model configuration and the log`;
    return problem('model_unavailable', detail, { cause, headers: { 'retry-after': RETRY_AFTER_S } });
  }
  return internal(cause);
}

/** The model could not be called now, or not with this much text. */
const NOT_ASKED = ['context_too_long', 'rate_limited', 'circuit_open'];

/** An owner has left for another cell since the request came. */
function ofAway(cause: unknown): ProblemError {
  const { away } = cause as { readonly away: Parameters<typeof moved>[1] };
  return moved(messageOf(cause), away);
}

/** The owner is in another cell; null: only the directory knows in which. */
export const moved = (what: string, at: { readonly cell: string | null; readonly epoch: number }): ProblemError =>
  problem('moved', `${what}; send the request there, or to a router`, { moved: at });

/** 402 and not 429: clients wait after a 429, and a day is too long. */
function ofBudget(cause: unknown): ProblemError {
  const { retryAfterMs } = cause as { readonly retryAfterMs: number | null };
  const headers = { 'retry-after': String(Math.ceil((retryAfterMs ?? 0) / 1_000)) };
  return problem('budget_exhausted', messageOf(cause), { cause, headers });
}

/** Longest part of a path, in characters; ids are shorter. */
export const PARAM_MAX = 300;

const UNREADABLE_URL =
  'the URL is not valid: % must be followed by two hexadecimal digits, and the decoded bytes must be UTF-8';

/** A query that cannot be decoded would be taken as it is: as the id of somebody else, and not of the same one everywhere. */
export function refuseUnreadable(url: string): void {
  if (!isReadable(url)) throw problem('invalid_request', UNREADABLE_URL);
}

/** The result is used, since bundlers leave out calls whose result nobody uses. */
function isReadable(url: string): boolean {
  try {
    return typeof decodeURIComponent(url) === 'string';
  } catch {
    return false;
  }
}

const FRAMEWORK: Readonly<Record<string, readonly [ErrorCode, string]>> = {
  FST_ERR_CTP_INVALID_JSON_BODY: ['invalid_json', 'the body is not valid JSON; send one JSON object, encoded as UTF-8'],
  FST_ERR_CTP_BODY_TOO_LARGE: ['body_too_large', 'the body is too large; send it in smaller parts'],
  FST_ERR_CTP_INVALID_MEDIA_TYPE: [
    'unsupported_media_type',
    'expected a JSON body with the header content-type: application/json, got another content type or none',
  ],
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: [
    'invalid_request',
    'the length of the body does not match its content-length header; send the whole body',
  ],
  FST_ERR_MAX_PARAM_LENGTH: [
    'invalid_request',
    `expected at most ${PARAM_MAX} characters in each part of the path, got more; check the id`,
  ],
  FST_ERR_BAD_URL: ['invalid_request', UNREADABLE_URL],
};

function ofFramework(code: string, status: number, cause: unknown): ProblemError {
  const known = FRAMEWORK[code];
  if (known !== undefined) return problem(known[0], known[1], { cause });
  if (status >= 400 && status < 500) return problem(codeOf(status), messageOf(cause), { cause });
  return internal(cause);
}

const internal = (cause: unknown): ProblemError =>
  problem('internal', 'internal error; look for the x-request-id of this response in the log', { cause });

function codeOf(status: number): ErrorCode {
  const codes = Object.keys(ERROR_STATUS) as ErrorCode[];
  return codes.find((code) => ERROR_STATUS[code] === status) ?? 'invalid_request';
}

function factsOf(thrown: unknown): { name: string; code: string; statusCode: number } {
  if (!(thrown instanceof Error)) return { name: '', code: '', statusCode: 0 };
  const { code, statusCode } = thrown as { code?: unknown; statusCode?: unknown };
  return { name: thrown.name, code: String(code ?? ''), statusCode: Number(statusCode ?? 0) };
}

const messageOf = (thrown: unknown): string => (thrown instanceof Error ? thrown.message : String(thrown));

export interface InputMistake {
  readonly path: string;
  readonly message: string;
}

interface Extras {
  readonly errors?: readonly InputMistake[];
  readonly dependents?: Problem['dependents'];
  readonly currentVersion?: number;
  /** Where an owner is instead. */
  readonly moved?: { readonly cell: string | null; readonly epoch?: number };
  readonly headers?: Readonly<Record<string, string>>;
  readonly cause?: unknown;
}

/** A failure for the caller: a stable code, and a text with what was expected, what was got, and what to do. */
export class ProblemError extends Error {
  readonly code: ErrorCode;
  readonly statusCode: number;
  readonly errors: readonly InputMistake[];
  readonly dependents: Problem['dependents'];
  readonly currentVersion: number | undefined;
  readonly moved: Extras['moved'];
  readonly headers: Readonly<Record<string, string>>;

  constructor(code: ErrorCode, detail: string, extras: Extras = {}) {
    super(detail, { cause: extras.cause });
    this.name = 'ProblemError';
    this.code = code;
    this.statusCode = ERROR_STATUS[code];
    this.errors = extras.errors ?? [];
    this.dependents = extras.dependents;
    this.currentVersion = extras.currentVersion;
    this.moved = extras.moved;
    this.headers = extras.headers ?? {};
  }
}

export function problem(code: ErrorCode, detail: string, extras: Extras = {}): ProblemError {
  return new ProblemError(code, detail, extras);
}

/** A cursor of another list, or none at all. */
export const otherCursor = (cause?: unknown): ProblemError =>
  problem('invalid_cursor', 'the cursor does not belong to this list; start again without a cursor', { cause });

/** A refusal of what may be sent again after so many seconds. */
export function tooManyRequests(detail: string, seconds: number): ProblemError {
  return problem('too_many_requests', detail, { headers: { 'retry-after': String(seconds) } });
}

/** An object does not exist, or the key has no access to it: the response is the same. */
export function notFound(kind: string, id: string): ProblemError {
  return problem('not_found', `there is no ${kind} ${JSON.stringify(shorten(id))}; check the id`);
}

/** The body of an answer, RFC 9457. */
export function problemBody(error: ProblemError, instance: string): Problem {
  return {
    type: `urn:slowwave:problem:${error.code}`,
    title: error.code.replaceAll('_', ' '),
    status: error.statusCode,
    code: error.code,
    detail: error.message,
    instance,
    ...(error.dependents !== undefined && { dependents: error.dependents }),
    ...(error.currentVersion !== undefined && { current_version: error.currentVersion }),
    ...error.moved,
    ...(error.errors.length > 0 && { errors: error.errors.map(({ path, message }) => ({ path, message })) }),
  };
}

/** The longest piece of a caller's text that a response repeats, in characters. */
const ECHO_MAX = 80;
export const shorten = (text: string): string => (text.length > ECHO_MAX ? `${text.slice(0, ECHO_MAX)}…` : text);
