import {
  type App,
  type FastifyRequest,
  type HttpLog,
  idIn,
  principalOf,
  problem,
  problemBody,
  USER_HEADER,
} from '@slowwave/http';
import { type Connection, createMcpHandler, type Ids, memoryServer } from '@slowwave/mcp';
import { createSlowwave } from '@slowwave/sdk';

export interface McpDeps {
  readonly log: HttpLog;
  /** Where the routes are that this process does not have; null: it has all, or nobody has said. */
  readonly elsewhere: string | null;
}

interface Asked extends McpDeps {
  readonly app: App;
  readonly request: FastifyRequest;
}

/**
 * Answers a message of MCP. Tools ask our own routes with the key of the caller, so that what is allowed, limited, counted and
 * recorded there is so here.
 */
export function answerMcp(asked: Asked, message: Request): Promise<Response> {
  const connection = connectionOf(asked);
  const handler = createMcpHandler(() => memoryServer(connection), {
    // Nothing changes that could be subscribed to, and a stream without an end would hold up a stop.
    maxSubscriptions: 0,
    onerror: (err) => asked.log.debug({ err, request: asked.request.id }, 'an MCP message was refused'),
  });
  return handler.fetch(message, { parsedBody: asked.request.body });
}

function connectionOf(asked: Asked): Connection {
  const { log, request } = asked;
  const fixed = fixedBy(request);
  return {
    // Whoever waits is a model, which may try again itself.
    slowwave: createSlowwave({ url: INSIDE, fetch: asking(asked), retries: 0 }),
    fixed: async () => fixed,
    report: (err) => log.error({ err, request: request.id }, 'a tool failed'),
  };
}

/** Stands for this process in the URLs of the client. */
const INSIDE = 'http://localhost';

/** The user and the app of the key; what it does not decide, headers may. */
function fixedBy(request: FastifyRequest): Ids {
  const { userId, appId } = principalOf(request);
  const [agent, run, app] = ['agent', 'run', 'app'].map((name) => idIn(request.headers, `x-slowwave-${name}`));
  if (appId !== null && app != null && app !== appId)
    throw problem('key_bound', `this key may only be used with app_id ${JSON.stringify(appId)}; remove x-slowwave-app`);
  return {
    ...{ user_id: userId ?? undefined, app_id: appId ?? app ?? undefined },
    ...{ agent_id: agent ?? undefined, run_id: run ?? undefined },
  };
}

/** What an inner request takes over from its caller: the key, the user, and by what it is found in logs and traces. */
const TAKEN_OVER = ['authorization', 'x-api-key', USER_HEADER, 'traceparent'];

/** The routes of this process without a network in between, and those of other processes through it. */
const asking =
  ({ app, request, elsewhere }: Asked): typeof fetch =>
  async (input, init = {}) => {
    const path = String(input).slice(INSIDE.length);
    const taken = TAKEN_OVER.flatMap((name) => {
      const value = request.headers[name];
      return value === undefined ? [] : [[name, String(value)] as const];
    });
    const headers = {
      ...(init.headers as Record<string, string>),
      ...Object.fromEntries(taken),
      'x-request-id': request.id,
      // Wrong keys are counted by where they come from.
      'x-forwarded-for': [request.headers['x-forwarded-for'] ?? [], request.ip].flat().join(', '),
    };
    const here = await inject(app, path, { ...init, headers: { ...headers, host: request.host } });
    if (!(await isElsewhere(here))) return here;
    if (elsewhere === null) return refusal(path);
    return fetch(`${elsewhere.replace(/\/+$/, '')}${path}`, { ...init, headers, redirect: 'error' });
  };

async function inject(
  app: App,
  url: string,
  init: RequestInit & { headers: Record<string, string> },
): Promise<Response> {
  const { method = 'GET', headers, body, signal } = init;
  const answer = await app.inject({
    ...{ method: method as 'GET', url, headers },
    ...(typeof body === 'string' && { payload: body }),
    ...(signal && { signal }),
  });
  const type = String(answer.headers['content-type'] ?? '');
  return new Response(answer.rawPayload, { status: answer.statusCode, headers: { 'content-type': type } });
}

/** Codes with which the shell says that a route is not of this process. */
const NOT_HERE: ReadonlySet<unknown> = new Set(['route_not_found', 'method_not_allowed']);

async function isElsewhere(answer: Response): Promise<boolean> {
  if (answer.status !== 404 && answer.status !== 405) return false;
  const { code } = (await answer.clone().json()) as { readonly code?: unknown };
  return NOT_HERE.has(code);
}

function refusal(path: string): Response {
  const detail = 'this process only reads; set SLOWWAVE_URL to the address of the whole API to let tools write';
  const failure = problem('not_configured', detail);
  return Response.json(problemBody(failure, path), { status: failure.statusCode });
}
