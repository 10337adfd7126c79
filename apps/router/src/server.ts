import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { pipeline } from 'node:stream/promises';
import { UnansweredError } from '@slowwave/adapters/cells';
import type { Log } from '@slowwave/engine';
import {
  BODY_LIMITS,
  Counter,
  PROBLEM_TYPE,
  type ProblemError,
  problem,
  problemBody,
  type Registry,
  refuseUnreadable,
  translate,
} from '@slowwave/http';
import { type Asked, passedBack, type Routing } from './send.ts';

interface RouterServer {
  readonly registry: Registry;
  readonly log: Log;
  /** Why the router cannot be used; null: it can. */
  ready(): string | null;
  route(asked: Asked): Promise<Routing>;
}

/** Longer than that of load balancers, so that they close first. */
const KEEP_ALIVE_MS = 75_000;

/** An HTTP server that passes requests on. What it answers itself is health, metrics and problems. */
export function routerServer(options: RouterServer): Server {
  const requests = new Counter({
    name: 'slowwave_router_requests_total',
    help: 'Requests by response status',
    labelNames: ['status'] as const,
    registers: [options.registry],
  });
  const server = createServer((request, response) => {
    void answer(options, request, response).finally(() => requests.inc({ status: response.statusCode }));
  });
  server.keepAliveTimeout = KEEP_ALIVE_MS;
  return server;
}

async function answer(options: RouterServer, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const hungUp = new AbortController();
  response.once('close', () => hungUp.abort());
  try {
    if (await answeredItself(options, request, response)) return;
    await passBack(await options.route(await readRequest(request, hungUp.signal)), response);
  } catch (error) {
    if (hungUp.signal.aborted) return;
    refuse(error, { options, request, response });
  }
}

/** The largest body that any route takes; each cell has its own limits for each. */
const BODY_MAX = Math.max(...Object.values(BODY_LIMITS));

/** A request as a whole. */
async function readRequest(request: IncomingMessage, signal: AbortSignal): Promise<Asked> {
  const url = request.url ?? '/';
  refuseUnreadable(url);
  const end = url.indexOf('?');
  return {
    ...{ method: request.method ?? 'GET', url, headers: request.headers, signal },
    path: end < 0 ? url : url.slice(0, end),
    query: new URLSearchParams(end < 0 ? '' : url.slice(end + 1)),
    body: await bodyOf(request),
    address: request.socket.remoteAddress ?? '',
  };
}

async function bodyOf(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > BODY_MAX) {
      throw problem(
        'body_too_large',
        `expected a body of at most ${BODY_MAX} bytes, got more; send it in smaller parts`,
      );
    }
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

async function answeredItself(
  { registry, ready }: RouterServer,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<boolean> {
  switch (request.url) {
    case '/healthz':
      sendJson(response, 200, { status: 'ok', runs_on: { router: 'cells' } });
      return true;
    case '/readyz': {
      const message = ready();
      const checks = { directory: message === null ? { ok: true } : { ok: false, message } };
      sendJson(response, message === null ? 200 : 503, { status: message === null ? 'ok' : 'unavailable', checks });
      return true;
    }
    case '/metrics':
      response.writeHead(200, { 'content-type': registry.contentType }).end(await registry.metrics());
      return true;
    default:
      return false;
  }
}

const sendJson = (response: ServerResponse, status: number, body: object): void =>
  void response.writeHead(status, { 'content-type': 'application/json; charset=utf-8' }).end(JSON.stringify(body));

async function passBack(answer: Routing, response: ServerResponse): Promise<void> {
  if ('text' in answer) {
    response.writeHead(answer.statusCode, passedBack(answer.headers)).end(answer.text);
    return;
  }
  response.writeHead(answer.statusCode, passedBack(answer.headers));
  await pipeline(answer.body, response);
}

interface Refusing {
  readonly options: RouterServer;
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
}

function refuse(thrown: unknown, { options, request, response }: Refusing): void {
  const failure = failureOf(thrown);
  if (failure.statusCode >= 500) {
    options.log.warn({ err: failure.cause ?? failure, code: failure.code, method: request.method }, 'a request failed');
  }
  if (response.headersSent) {
    response.destroy();
    return;
  }
  const path = request.url?.split('?', 1)[0] ?? '/';
  response
    .writeHead(failure.statusCode, { ...failure.headers, 'content-type': PROBLEM_TYPE })
    .end(JSON.stringify(problemBody(failure, path)));
}

function failureOf(thrown: unknown): ProblemError {
  if (!(thrown instanceof UnansweredError)) return translate(thrown);
  const { cell } = thrown;
  return problem(
    'cell_unavailable',
    `cell ${cell} does not respond; its owners are unavailable, other owners are not affected`,
    {
      ...{ moved: { cell }, headers: { 'retry-after': '1' }, cause: thrown },
    },
  );
}
