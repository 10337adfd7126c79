import type { Attempted, EngineDeps } from '@slowwave/engine';
import { Counter, Gauge, type Registry } from '@slowwave/http';

const SECOND_MS = 1_000;

/** Figures of webhooks. What comes back counts an attempt. */
export function measureWebhooks(
  metrics: Registry,
  { ledger, tools }: Pick<EngineDeps, 'ledger' | 'tools'>,
): (attempted: Attempted) => void {
  const registers = [metrics];
  new Gauge({
    name: 'slowwave_webhook_deliveries',
    help: 'Deliveries of webhooks that wait, and that have failed for good and were not replayed.',
    labelNames: ['state'],
    registers,
    async collect() {
      const { waiting, failed } = await ledger.webhooks.backlog();
      this.set({ state: 'waiting' }, waiting);
      this.set({ state: 'failed' }, failed);
    },
  });
  new Gauge({
    name: 'slowwave_webhook_oldest_seconds',
    help: 'Age of the oldest delivery that waits.',
    registers,
    async collect() {
      const { oldest } = await ledger.webhooks.backlog();
      this.set(oldest === null ? 0 : Math.max(0, tools.now() - oldest) / SECOND_MS);
    },
  });
  const attempts = new Counter({
    name: 'slowwave_webhook_attempts_total',
    help: 'Attempts to tell webhooks, by outcome: delivered, retried, failed.',
    labelNames: ['outcome'],
    registers,
  });
  return (attempted) => attempts.inc({ outcome: outcomeOf(attempted) });
}

function outcomeOf(attempted: Attempted): string {
  if (attempted.kind === 'delivered') return 'delivered';
  return attempted.retryAt === null ? 'failed' : 'retried';
}
