import { STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { type ProblemError, problem, problemBody, shorten } from './problem.ts';
import { translate } from './translate.ts';
import type { App, HttpLog } from './types.ts';

export const PROBLEM_TYPE = 'application/problem+json; charset=utf-8';

/** Answers every failure as problem+json, and writes those that are ours to the log. */
export function registerErrors(app: App, log: HttpLog, allowed: (path: string) => readonly string[]): void {
  app.decorateRequest('problemCode', null);
  app.setErrorHandler((error, request, reply) => {
    const told = report(error, request, log);
    readToTheEnd(reply, told.code);
    return sendProblem(reply, told);
  });
  app.setNotFoundHandler((request, reply) => sendProblem(reply, unknownRoute(request, allowed(pathOf(request)))));
}

/** Who is cut off while sending too large a body would not see why: the rest of it is read and forgotten, in its time. */
export function readToTheEnd(reply: FastifyReply, code: string): void {
  if (code === 'body_too_large') reply.removeHeader('connection');
}

export function sendProblem(reply: FastifyReply, error: ProblemError): FastifyReply {
  reply.request.problemCode = error.code;
  const body = problemBody(error, pathOf(reply.request));
  return reply.code(error.statusCode).headers(error.headers).type(PROBLEM_TYPE).send(JSON.stringify(body));
}

/** Anything thrown while answering a request, as a problem; failures of ours are logged. */
export function report(thrown: unknown, request: FastifyRequest, log: HttpLog): ProblemError {
  const told = tooLarge(thrown, request) ?? translate(thrown);
  request.problemCode = told.code;
  if (told.statusCode >= 500) {
    const fields = { err: told.cause ?? told, request: request.id, method: request.method, code: told.code };
    log[told.code === 'internal' ? 'error' : 'warn'](fields, 'a request failed');
  }
  return told;
}

/** With its figures, which only the request knows. */
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

/** Answers what never became a request: broken HTTP, too large headers, headers that took too long. */
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
