import { CHECKS, type EngineDeps, type Examination, examine } from '@slowwave/engine';
import { Gauge, type Registry } from '@slowwave/http';

/** Whoever asks for metrics more often is told the same once more. */
const EVERY_MS = 60_000;

/** What the doctor finds by figures that are at hand, at most once a minute. */
export function measureDoctor(metrics: Registry, deps: EngineDeps): void {
  let last: Examination | null = null;
  new Gauge({
    name: 'slowwave_doctor_findings',
    help: 'Findings of quick checks by check and severity; slowwave doctor says what they are and what to run.',
    labelNames: ['check', 'severity'],
    registers: [metrics],
    async collect() {
      // The rest is worth telling also while the index or the ledger does not answer; readyz says that.
      if (last === null || deps.tools.now() - last.at > EVERY_MS) last = await quick(deps).catch(() => null);
      this.reset();
      for (const check of CHECKS) {
        for (const severity of ['error', 'warning'] as const) {
          const found = last?.findings.filter((one) => one.check === check && one.severity === severity) ?? [];
          if (last !== null) this.set({ check, severity }, found.length);
        }
      }
    },
  });
}

const quick = (deps: EngineDeps): Promise<Examination> =>
  examine(deps, { depth: 'quick', cancel: new AbortController().signal });
