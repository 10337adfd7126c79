import fastify from 'fastify';
import { serializerCompiler, type ZodTypeProvider } from 'fastify-type-provider-zod';
import { registerAudit } from './audit/register.ts';
import { registerAuth } from './auth.ts';
import { registerBodyLimits } from './body-limits.ts';
import { registerBounds } from './bounds.ts';
import { answerBrokenRequest, registerErrors, report, sendProblem } from './errors.ts';
import { registerHeaders } from './headers.ts';
import { registerHealth } from './health.ts';
import { readOnlyJson } from './json-body.ts';
import { tidyUrl } from './lenient-paths.ts';
import { registerMetrics } from './metrics.ts';
import { registerDocs } from './openapi/docs.ts';
import { PARAM_MAX } from './params.ts';
import { registerRateLimit } from './rate-limit.ts';
import { requestId } from './request-id.ts';
import { registerRouteTable } from './route-table.ts';
import type { App, Arrival, ShellOptions } from './types.ts';
import { validator } from './validation.ts';
import { registerWork } from './work.ts';

/**
 * Generous for a large transcript, short for a trickling attacker. Node.js looks every half a minute unless told otherwise,
 * and lets who trickles stay for as much longer.
 */
const USUAL_ARRIVAL: Arrival = { headersMs: 10_000, requestMs: 30_000, checkedMs: 2_000 };
/** A connection without traffic is closed after this, in ms: longer than the longest long-poll. */
const IDLE_CONNECTION_MS = 90_000;
/** Longer than the 60 s many proxies keep idle connections, so that the proxy closes first. */
const KEEP_ALIVE_MS = 72_000;

/** What every HTTP app shares: errors, auth, ids, headers, health, metrics and docs. Routes are registered on it. */
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
    // A request that has come this far is answered, also while the listener closes.
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
  // Whoever holds a connection open would find it closed; so they go elsewhere with the next request.
  app.addHook('onSend', async (_request, reply) => {
    if (withdrawn.signal.aborted) reply.header('connection', 'close');
  });
}
