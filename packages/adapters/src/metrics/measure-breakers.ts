import { Gauge, type Registry } from 'prom-client';

/** What knows how the breaker of each model stands. */
interface Breaking {
  breakers(): Readonly<Record<string, string>>;
}

/** Which models this process leaves alone because they keep failing; asked for when metrics are. */
export function measureBreakers(registry: Registry, { breakers }: Breaking): void {
  new Gauge({
    name: 'slowwave_breaker_open',
    help: '1 while this process leaves the model alone, or only probes it; 0 while it asks',
    labelNames: ['model'] as const,
    registers: [registry],
    collect() {
      for (const [model, kind] of Object.entries(breakers())) this.set({ model }, kind === 'closed' ? 0 : 1);
    },
  });
}
