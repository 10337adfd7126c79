import { Gauge, type Registry } from '@slowwave/http';

/** What a queue knows of its jobs. */
interface Counting {
  jobs(): Promise<Readonly<Record<string, number>>>;
}

/** How many turns of lanes the queue holds, read when metrics are asked for. A queue that is away has no figures. */
export function measureQueue(metrics: Registry, schedule: Counting): void {
  new Gauge({
    name: 'slowwave_queue_jobs',
    help: 'Turns of lanes in the queue by state: wait and prioritized are due, delayed are not yet',
    labelNames: ['state'],
    registers: [metrics],
    async collect() {
      this.reset();
      // The rest is worth telling also while the queue is away; readyz says that it is.
      const jobs = await schedule.jobs().catch(() => ({}));
      for (const [state, count] of Object.entries(jobs)) this.set({ state }, count);
    },
  });
}
