import fastify from 'fastify';
import { serializerCompiler, type ZodTypeProvider } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { registerBounds } from './access.ts';
import { registerAudit } from './audit.ts';
import { registerAuth } from './auth.ts';
import { readOnlyJson, registerBodyLimits } from './body.ts';
import { answerBrokenRequest, PARAM_MAX, registerErrors, report, sendProblem } from './errors.ts';
import { registerHeaders, requestId } from './headers.ts';
import { registerHealth, registerMetrics } from './health.ts';
import { registerDocs } from './openapi.ts';
import { registerRateLimit, registerWork } from './rate-limit.ts';
import type { App, Arrival, ShellOptions } from './types.ts';
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
  app.decorateRequest('subject', null);
  if (options.audit != null) registerAudit(app, options.audit);
  const login = registerAuth(app, options.auth, options.log);
  if (options.keyRate !== null) {
    registerWork(app);
    registerRateLimit(app, options.keyRate);
  }
  registerBounds(app);
  registerErrors(app, options.log, allowed);
  await app.register(login);
  await registerDocs(app, options.name);
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
