import { monitorEventLoopDelay } from 'node:perf_hooks';
import { Gauge, Histogram, type Registry } from 'prom-client';
import type { App } from './types.ts';

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
