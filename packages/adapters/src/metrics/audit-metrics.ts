import { Counter, type Registry } from 'prom-client';

/** Entries of the audit log that this process has written, and those that it could not. */
export function auditMetrics(registry: Registry): (outcome: 'written' | 'lost', count: number) => void {
  const entries = new Counter({
    name: 'slowwave_audit_entries_total',
    help: 'Entries of the audit log, by what became of them: written, lost',
    labelNames: ['outcome'] as const,
    registers: [registry],
  });
  return (outcome, count) => entries.inc({ outcome }, count);
}
