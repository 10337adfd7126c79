import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { LiveView, ReadyView } from '@slowwave/contracts';
import fastify, {
  type FastifyBaseLogger,
  type FastifyInstance,
  type FastifyRequest,
  type RawServerDefault,
} from 'fastify';
import { type FastifyPluginAsyncZod, serializerCompiler, type ZodTypeProvider } from 'fastify-type-provider-zod';
import { Gauge, Histogram, type Registry } from 'prom-client';
import { z } from 'zod';
import {
  type Bounds,
  type KeyCheck,
  type Principal,
  type RefusedKey,
  type RouteScope,
  registerBounds,
} from './access.ts';
import { type AuditSink, registerAudit, type Subject } from './audit.ts';
import { registerAuth } from './auth.ts';
import { answerBrokenRequest, PARAM_MAX, refuseUnreadable, registerErrors, report, sendProblem } from './errors.ts';
import { readOnlyJson, registerBodyLimits, registerRateLimit, registerWork } from './limits.ts';
import { registerDocs } from './openapi.ts';
import { type Admit, type CellGuard, movedThing, registerAdmission, registerCellGuard } from './owners.ts';
import { validator } from './validation.ts';

/**
 * Long enough for a large transcript, short enough against slow attacks. By default Node.js checks only every 30 s.
 */
const USUAL_ARRIVAL: Arrival = { headersMs: 10_000, requestMs: 30_000, checkedMs: 2_000 };
/** A connection without traffic is closed after this, in ms: longer than the longest long-poll. */
const IDLE_CONNECTION_MS = 90_000;
/** Longer than the 60 s many proxies keep idle connections, so that the proxy closes first. */
const KEEP_ALIVE_MS = 72_000;

/** What every HTTP app has: errors, auth, ids, headers, health, metrics and docs. Routes are registered on it. */
export async function createShell(options: ShellOptions): Promise<App> {
  const app = bareServer(options);
  app.setValidatorCompiler(validator);
  app.setSerializerCompiler(serializerCompiler);
  readOnlyJson(app);
  abortWhenStopping(app);
  const allowed = registerRouteTable(app);
  registerBodyLimits(app);
  registerHeaders(app);
  app.addHook('onRequest', async ({ raw }) => refuseUnreadable(raw.url ?? '/'));
  app.decorateRequest('subject', null);
  if (options.audit != null) registerAudit(app, options.audit);
  const login = registerAuth(app, options.auth, options.log);
  if (options.keyRate !== null) {
    registerWork(app);
    registerRateLimit(app, options.keyRate);
  }
  registerBounds(app);
  const { around, admit, cell = null } = options;
  if (cell !== null) registerCellGuard(app, cell);
  if (around !== undefined) app.addHook('preHandler', (_request, _reply, done) => around(done));
  if (admit != null) registerAdmission(app, admit);
  const instead = async (request: FastifyRequest) => (cell === null ? null : movedThing(request, cell));
  registerErrors(app, { log: options.log, allowed, instead });
  await app.register(login);
  await registerDocs(app, options.name, options.home);
  registerHealth(app, options);
  registerMetrics(app, options.name, options.metrics);
  return app;
}

function bareServer(options: ShellOptions): App {
  const { headersMs, requestMs, checkedMs } = options.arrival ?? USUAL_ARRIVAL;
  return fastify({
    logger: false,
    // Requests that have arrived are completed, even while the listener closes.
    return503OnClosing: false,
    genReqId: requestId,
    rewriteUrl: ({ url }) => tidyUrl(url ?? '/'),
    requestTimeout: requestMs,
    connectionTimeout: IDLE_CONNECTION_MS,
    keepAliveTimeout: KEEP_ALIVE_MS,
    http: { headersTimeout: headersMs, connectionsCheckingInterval: checkedMs },
    routerOptions: { maxParamLength: PARAM_MAX },
    clientErrorHandler: answerBrokenRequest,
    frameworkErrors: (error, request, reply) => {
      sendProblem(reply, report(error, request, options.log));
    },
  }).withTypeProvider<ZodTypeProvider>();
}

function abortWhenStopping(app: App): void {
  const stopping = new AbortController();
  app.decorate('stopping', stopping.signal);
  app.addHook('preClose', async () => stopping.abort());
  const withdrawn = new AbortController();
  app.decorate('withdrawn', withdrawn.signal);
  app.decorate('withdraw', () => withdrawn.abort());
  // Clients with open connections send the next request elsewhere.
  app.addHook('onSend', async (_request, reply) => {
    if (withdrawn.signal.aborted) reply.header('connection', 'close');
  });
}

/** Collects all routes that are added later. Returns which methods a path has. */
function registerRouteTable(app: App): (path: string) => readonly string[] {
  const table: { pattern: RegExp; methods: readonly string[] }[] = [];
  app.addHook('onRoute', (route) => {
    const methods = [route.method].flat();
    table.push({ pattern: patternOf(route.url), methods });
    if (route.url.startsWith('/v1/')) refuseUnknownQuery(route);
  });
  return (path) => {
    const fitting = table.filter(({ pattern }) => pattern.test(path));
    return [...new Set(fitting.flatMap(({ methods }) => methods))].sort();
  };
}

/** A route without query parameters refuses them: a misspelt one must not be ignored. */
function refuseUnknownQuery(route: { schema?: { querystring?: unknown } }): void {
  const schema = route.schema ?? {};
  if (schema.querystring === undefined) route.schema = { ...schema, querystring: z.strictObject({}) };
}

function patternOf(url: string): RegExp {
  const parts = url.split('/').map((part) => {
    if (part.startsWith(':')) return '[^/]+';
    return part.replaceAll(/[.+?^${}()|[\]\\]/g, String.raw`\$&`).replaceAll('*', '.*');
  });
  return new RegExp(`^${parts.join('/')}$`);
}

/** Paths for mem0's clients, which double slashes and append them. */
const LENIENT = /^\/mem0(?=\/|$)/;

/** The URL of such a client with slashes as in our routes; any other URL unchanged. */
function tidyUrl(url: string): string {
  if (!LENIENT.test(url)) return url;
  const [path = '', ...query] = url.split('?');
  const tidy = path.replace(/\/{2,}/g, '/').replace(/(?<=.)\/$/, '');
  return [tidy, ...query].join('?');
}

/** Longest a dependency may take to answer a readiness check, in ms: below the usual probe limit of 5 s. */
const CHECK_LIMIT_MS = 2_000;

/** /healthz: the process responds and needs no restart. /readyz: its dependencies respond, too. */
function registerHealth(
  app: App,
  options: Pick<ShellOptions, 'runsOn' | 'alive' | 'ready' | 'warnings' | 'log'>,
): void {
  const schema = {
    operationId: 'getHealth',
    tags: ['health'],
    response: { 200: LiveView },
    summary: 'Check whether the process is alive',
  };
  const { alive = async () => {}, warnings = async () => [], log } = options;
  const preHandler = async (_request: unknown, reply: Reply) => {
    const [, check] = await tried('process', alive, log);
    return check.ok ? undefined : reply.code(503).send({ status: 'unavailable', runs_on: { ...options.runsOn } });
  };
  app.get('/healthz', { config: { open: true }, schema, preHandler }, async () => ({
    status: 'ok' as const,
    runs_on: { ...options.runsOn },
  }));

  const ready = {
    operationId: 'getReadiness',
    tags: ['health'],
    response: { 200: ReadyView, 503: ReadyView },
    summary: 'Check whether all dependencies are available',
  };
  app.get('/readyz', { config: { open: true }, schema: ready }, async (_request, reply) => {
    if (app.withdrawn.aborted) return reply.code(503).send({ status: 'unavailable', checks: { process: STOPPING } });
    const names = Object.entries(options.ready);
    const checks = Object.fromEntries(await Promise.all(names.map(([name, check]) => tried(name, check, options.log))));
    const isReady = Object.values(checks).every(({ ok }) => ok);
    // A ledger that does not answer knows of none.
    const found = isReady ? await warnings().catch(() => []) : [];
    const besides = found.length === 0 ? {} : { warnings: [...found] };
    return reply.code(isReady ? 200 : 503).send({ status: isReady ? 'ok' : 'unavailable', checks, ...besides });
  });
}

const STOPPING = { ok: false, message: 'the process is shutting down; send requests to another instance' };

interface Reply {
  code(status: number): { send(body: object): unknown };
}

type Outcome = readonly [name: string, result: { ok: boolean; message?: string }];

/** Anyone may read the response, so it only says that a dependency is unavailable; the log says why. */
async function tried(name: string, check: () => Promise<void>, log: ShellOptions['log']): Promise<Outcome> {
  try {
    await withinLimit(check());
    return [name, { ok: true }];
  } catch (err) {
    log.warn({ err, dependency: name }, 'dependency not ready');
    return [name, { ok: false, message: `${name} is not available; see the log for the reason` }];
  }
}

async function withinLimit(work: Promise<void>): Promise<void> {
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(() => late.reject(new Error(`no answer within ${CHECK_LIMIT_MS} ms`)), CHECK_LIMIT_MS);
  try {
    await Promise.race([work, late.promise]);
  } finally {
    clearTimeout(timer);
  }
}

/** From an acknowledged batch (about 1 ms) to the longest long-poll (60 s), in seconds. */
const DURATION_BUCKETS_S = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10, 60];
const NANOSECONDS = 1e9;

/** Times every request by route, never by id, and serves /metrics. */
function registerMetrics(app: App, name: string, registry: Registry): void {
  const duration = new Histogram({
    name: 'slowwave_http_request_duration_seconds',
    help: 'Time from receiving a request to the end of its response',
    labelNames: ['app', 'method', 'route', 'status'] as const,
    buckets: DURATION_BUCKETS_S,
    registers: [registry],
  });
  app.addHook('onResponse', (request, reply, done) => {
    const route = request.routeOptions.url ?? 'unknown';
    const labels = { app: name, method: request.method, route, status: reply.statusCode };
    duration.observe(labels, reply.elapsedTime / 1_000);
    done();
  });
  watchEventLoop(app, registry);
  const schema = { operationId: 'getMetrics', tags: ['health'], summary: 'Prometheus metrics' };
  app.get('/metrics', { schema }, async (_request, reply) =>
    reply.type(registry.contentType).send(await registry.metrics()),
  );
}

function watchEventLoop(app: App, registry: Registry): void {
  const delay = monitorEventLoopDelay({ resolution: 10 });
  delay.enable();
  app.addHook('onClose', async () => {
    delay.disable();
  });
  const gauge = new Gauge({
    name: 'slowwave_event_loop_delay_seconds',
    help: 'Event loop delay since the last scrape',
    labelNames: ['percentile'] as const,
    registers: [registry],
    collect: () => {
      for (const percentile of [50, 99])
        gauge.set({ percentile: `0.${percentile}` }, delay.percentile(percentile) / NANOSECONDS);
      gauge.set({ percentile: '1' }, delay.max / NANOSECONDS);
      delay.reset();
    },
  });
}

const API_HEADERS = {
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'referrer-policy': 'no-referrer',
  'cross-origin-resource-policy': 'same-origin',
  'cache-control': 'no-store',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
} as const;

/** Adds the request id and security headers to every response. */
function registerHeaders(app: App): void {
  app.addHook('onRequest', (request, reply, done) => {
    reply.header('x-request-id', request.id).headers(API_HEADERS);
    done();
  });
}

/** What a caller may choose as the id of a request: it is written to logs and headers. */
const SAFE_ID = /^[\w.:-]{1,128}$/;

/** The caller's x-request-id if it is harmless, else a new one. */
function requestId(request: { readonly headers: IncomingMessage['headers'] }): string {
  const given = request.headers['x-request-id'];
  return typeof given === 'string' && SAFE_ID.test(given) ? given : randomUUID();
}

/** An HTTP app whose routes are typed by their zod schemas. */
export type App = FastifyInstance<
  RawServerDefault,
  IncomingMessage,
  ServerResponse,
  FastifyBaseLogger,
  ZodTypeProvider
>;

/** A set of routes, to be registered on a shell. */
export type Routes = FastifyPluginAsyncZod;

/** Structured log lines; never bodies. */
export interface HttpLog {
  debug(fields: object, message: string): void;
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

/** How requests are authenticated. */
export interface AuthOptions {
  /** The static key of the operator; null: none. */
  readonly apiKey: string | null;
  /** The keys of the ledger; null: keys are not used. */
  readonly keys: KeyCheck | null;
}

/** In ms. */
interface Arrival {
  readonly headersMs: number;
  /** With its headers. */
  readonly requestMs: number;
  /** How often slow requests are looked for. */
  readonly checkedMs: number;
}

export interface ShellOptions {
  /** The app's name in metrics and in the OpenAPI description. */
  readonly name: string;
  readonly auth: AuthOptions;
  readonly log: HttpLog;
  /** What the app runs on, e.g. { ledger: 'sqlite' }; shown at /healthz. */
  readonly runsOn: Readonly<Record<string, string>>;
  /**
   * Throws if a restart of the process may help, such as when a connection stays silent. /healthz fails meanwhile.
   */
  readonly alive?: () => Promise<void>;
  /** One check per dependency; it throws if the dependency does not respond. */
  readonly ready: Readonly<Record<string, () => Promise<void>>>;
  /** What /readyz says besides: what does not work although requests are served. Anyone may read it. */
  readonly warnings?: () => Promise<readonly string[]>;
  /** Requests per second that each key may send to this process; null: unlimited. */
  readonly keyRate: number | null;
  /** Where audit entries go; null or omitted: nowhere. */
  readonly audit?: AuditSink | null;
  /** What it knows of owners that moved to another cell; null or omitted: it is no cell. */
  readonly cell?: CellGuard | null;
  /** Carries out what answers a request, once it has arrived as a whole; omitted: nothing is around it. */
  readonly around?: (work: () => void) => void;
  /** Sees to it that the owners whom a request names can be read or changed; null or omitted: they always can. */
  readonly admit?: Admit | null;
  /** What people see who open the server in a browser; omitted: the documentation. */
  readonly home?: Routes;
  /** How long a request may take to arrive; omitted: the default. */
  readonly arrival?: Arrival;
  /** Where request metrics are kept; callers add their own to the same registry. */
  readonly metrics: Registry;
}

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Needs no key. */
    open?: boolean;
    /** A page for people, which a session can open. */
    page?: boolean;
    /** The scope that it needs. Default: operator. */
    scope?: RouteScope;
    /** Whether the scope subject opens it, too. */
    subject?: boolean;
    /** How it limits a key for one user or app. */
    bounds?: Bounds;
    /** true: always recorded in the audit log; false: never. */
    audited?: boolean;
    /** What it does about owners that sleep. read: it is answered from where they do; stay: they sleep on. Default: they wake. */
    asleep?: 'read' | 'stay';
  }
  interface FastifyInstance {
    /** Aborts when the service begins to stop. */
    readonly stopping: AbortSignal;
    /** From now on /readyz reports that the service is stopping; requests are still served. */
    withdraw(): void;
    readonly withdrawn: AbortSignal;
  }
  interface FastifyRequest {
    /** Who sent it; null: the route needs no key. */
    principal: Principal | null;
    /** A key that is no longer valid but was sent. */
    refusedKey: RefusedKey | null;
    /** The code of the problem in the response. */
    problemCode: string | null;
    /** What it is about, if its route has set it. */
    subject: Subject | null;
  }
}
