import { aligned } from '../aligned.ts';
import type { GateResult } from './gates/gate.ts';

const MISSES_SHOWN = 5;

export interface Report {
  readonly world: string;
  readonly user: string;
  readonly seconds: number;
  readonly passed: boolean;
  readonly gates: readonly GateResult[];
}

/** The gates as a table, with the first misses of those below target. */
export function tableOf(report: Report): string {
  const rows = report.gates.map((gate) => [
    gate.passed ? 'pass' : 'FAIL',
    gate.gate,
    gate.what,
    gate.figures,
    gate.target,
  ]);
  const lines = aligned([['', 'gate', 'what', 'reached', 'target'], ...rows]);
  const misses = report.gates.filter(({ passed }) => !passed).flatMap(missesOf);
  const below = report.gates.filter(({ passed }) => !passed).map(({ gate }) => gate);
  const verdict = below.length === 0 ? 'all targets reached' : `below target: ${below.join(', ')}`;
  const summary = `${report.world} as ${report.user}: ${verdict}, in ${report.seconds.toFixed(1)} s`;
  return `${[...lines, ...misses, '', summary].join('\n')}\n`;
}

function missesOf({ gate, misses }: GateResult): string[] {
  const more = misses.length - MISSES_SHOWN;
  const lines = misses.slice(0, MISSES_SHOWN).map((miss) => `  ${miss}`);
  return ['', `${gate}:`, ...lines, ...(more > 0 ? [`  … and ${more} more`] : [])];
}
