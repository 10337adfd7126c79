import type { EngineDeps, StudyOutcome } from '@slowwave/engine';
import { Counter, Gauge, type Registry } from '@slowwave/http';

/** Figures of the graph's studies. What comes back counts a try. */
export function measureStudies(
  metrics: Registry,
  { ledger }: Pick<EngineDeps, 'ledger'>,
): (outcome: StudyOutcome) => void {
  const registers = [metrics];
  new Gauge({
    name: 'slowwave_studies',
    help: 'Studies of the graph that wait, and that are parked.',
    labelNames: ['state'],
    registers,
    async collect() {
      const { pending, parked } = await ledger.graph.counts();
      this.set({ state: 'pending' }, pending);
      this.set({ state: 'parked' }, parked);
    },
  });
  const tries = new Counter({
    name: 'slowwave_studies_total',
    help: 'Tries to study by how they ended: applied, retry, parked, waits, given_back, fenced.',
    labelNames: ['outcome'],
    registers,
  });
  return (outcome) => tries.inc({ outcome });
}
