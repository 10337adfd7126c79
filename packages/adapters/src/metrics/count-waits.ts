import type { Limiter } from '@slowwave/engine';
import { Counter, type Registry } from 'prom-client';

const SECOND_MS = 1_000;

/** A limiter that counts how often, and for how long, calls of a model had to wait for its provider. */
export function countWaits(limiter: Limiter, registry: Registry): Limiter {
  const counter = (name: string, help: string) =>
    new Counter({ name, help, labelNames: ['model'] as const, registers: [registry] });
  const waits = counter('slowwave_rate_limit_waits_total', 'Times a call of a model was told to wait for its limits');
  const seconds = counter('slowwave_rate_limit_wait_seconds_total', 'Time calls of a model were told to wait');
  const pauses = counter('slowwave_rate_limit_pauses_total', 'Times a provider refused, and all workers paused');
  return {
    reserve: async (model, tokens) => {
      const answer = await limiter.reserve(model, tokens);
      if (answer.kind === 'wait') {
        waits.inc({ model });
        seconds.inc({ model }, answer.ms / SECOND_MS);
      }
      return answer;
    },
    settle: (model, id, tokens) => limiter.settle(model, id, tokens),
    pause: (model, ms) => {
      pauses.inc({ model });
      return limiter.pause(model, ms);
    },
    close: () => limiter.close(),
  };
}
