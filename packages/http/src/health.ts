import { monitorEventLoopDelay } from 'node:perf_hooks';
import { LiveView, ReadyView } from '@slowwave/contracts';
import { Gauge, Histogram, type Registry } from 'prom-client';
import type { App, ShellOptions } from './types.ts';

/** Longest a dependency may take to answer a readiness check, in ms: below the usual probe limit of 5 s. */
const CHECK_LIMIT_MS = 2_000;

/** /healthz: the process responds and needs no restart. /readyz: its dependencies respond, too. */
export function registerHealth(app: App, options: Pick<ShellOptions, 'runsOn' | 'alive' | 'ready' | 'log'>): void {
  const schema = {
    operationId: 'getHealth',
    tags: ['health'],
    response: { 200: LiveView },
    summary: 'Check whether the process is alive',
  };
  const { alive = async () => {}, log } = options;
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
    return reply.code(isReady ? 200 : 503).send({ status: isReady ? 'ok' : 'unavailable', checks });
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
export function registerMetrics(app: App, name: string, registry: Registry): void {
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
    labelNames: ['quantile'] as const,
    registers: [registry],
    collect: () => {
      for (const percentile of [50, 99])
        gauge.set({ quantile: `0.${percentile}` }, delay.percentile(percentile) / NANOSECONDS);
      gauge.set({ quantile: '1' }, delay.max / NANOSECONDS);
      delay.reset();
    },
  });
}
