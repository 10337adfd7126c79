import type { Acknowledged } from '@slowwave/engine';
import { Counter, Histogram, type Registry } from 'prom-client';

const SECOND_MS = 1_000;
/** From an idle disk (under 1 ms) to a ledger that is nearly away, in seconds. */
const BUCKETS_S = [0.0005, 0.001, 0.002, 0.003, 0.005, 0.0075, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5];

export function ingestMetrics(registry: Registry): (acknowledged: Acknowledged) => void {
  const duration = new Histogram({
    name: 'slowwave_acknowledge_duration_seconds',
    help: 'From a request to the moment its batch is durable',
    labelNames: ['repeated'] as const,
    buckets: BUCKETS_S,
    registers: [registry],
  });
  const ahead = new Counter({
    name: 'slowwave_future_timestamps_total',
    help: 'Messages with a timestamp more than a minute after they were accepted: often local time that is sent as UTC',
    registers: [registry],
  });
  return ({ startedAt, endedAt, repeated, fromTheFuture }) => {
    duration.observe({ repeated: String(repeated) }, Math.max(0, endedAt - startedAt) / SECOND_MS);
    if (!repeated) ahead.inc(fromTheFuture);
  };
}
