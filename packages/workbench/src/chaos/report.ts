import { aligned } from '../aligned.ts';
import type { FindingKind } from './checks/finding.ts';
import type { Injected, Outcome } from './rounds.ts';
import type { Mode } from './stage.ts';

export interface Report {
  readonly mode: Mode;
  readonly where: string;
  readonly seed: number;
  readonly faults: number;
  readonly rounds: number;
  readonly seconds: number;
  readonly accepted: number;
  readonly lost: number;
  readonly doubled: number;
  readonly gap: number;
  readonly otherFindings: number;
  readonly paidTwice: number;
  readonly modelCalls: number;
  readonly askedAgain: number;
  readonly recoveredMs: Percentiles;
  readonly byKind: readonly { readonly kind: string; readonly injected: number; readonly recoveredMs: Percentiles }[];
  readonly findings: Outcome['findings'];
}

interface Percentiles {
  readonly p50: number;
  readonly p95: number;
  readonly most: number;
}

export function reportOf(outcome: Outcome, about: { mode: Mode; where: string; seed: number }): Report {
  const { injected, findings } = outcome;
  const count = (...kinds: FindingKind[]): number => findings.filter(({ kind }) => kinds.includes(kind)).length;
  const kinds = [...new Set(injected.map(({ kind }) => kind))].sort();
  const [lost, doubled, gap, paidTwice] = [count('lost'), count('doubled'), count('gap'), count('paid twice')];
  return {
    ...about,
    faults: injected.length,
    rounds: outcome.rounds,
    seconds: Math.round(outcome.elapsedMs / 100) / 10,
    accepted: outcome.accepted,
    lost,
    doubled,
    gap,
    paidTwice,
    otherFindings: findings.length - lost - doubled - gap - paidTwice,
    modelCalls: outcome.calls,
    askedAgain: outcome.askedAgain,
    recoveredMs: percentiles(injected),
    byKind: kinds.map((kind) => {
      const ofKind = injected.filter((one) => one.kind === kind);
      return { kind, injected: ofKind.length, recoveredMs: percentiles(ofKind) };
    }),
    findings,
  };
}

function percentiles(injected: readonly Injected[]): Percentiles {
  const sorted = injected.map(({ recoveredMs }) => recoveredMs).sort((a, b) => a - b);
  const at = (share: number): number => sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)] ?? 0;
  return { p50: at(0.5), p95: at(0.95), most: at(1) };
}

const FINDINGS_SHOWN = 20;

/** As a person reads it. */
export function tableOf(report: Report): string {
  const { mode, where, seed, faults, rounds, seconds, accepted, modelCalls, askedAgain, findings } = report;
  const rows = report.byKind.map(({ kind, injected, recoveredMs }) => [
    kind,
    String(injected),
    ...secondsOf(recoveredMs),
  ]);
  const all = ['all', String(faults), ...secondsOf(report.recoveredMs)];
  const shown = findings.slice(0, FINDINGS_SHOWN).map(({ kind, what }) => `  ${kind}: ${what}`);
  const more = findings.length - FINDINGS_SHOWN;
  return `${[
    `${mode} (${where}), seed ${seed}: ${faults} faults in ${rounds} rounds, ${seconds} s`,
    '',
    ...aligned([['fault', 'injected', 'recovered p50', 'p95', 'longest'], ...rows, all]),
    '',
    `batches acknowledged ${accepted}, batches lost ${report.lost}, effects doubled ${report.doubled}, conservation gap ${report.gap}`,
    `model calls ${modelCalls}, asked again because an answer got lost ${askedAgain}, paid twice for a finished step ${report.paidTwice}`,
    findings.length === 0 ? 'nothing was found' : `${findings.length} findings:`,
    ...shown,
    ...(more > 0 ? [`  … and ${more} more`] : []),
  ].join('\n')}\n`;
}

const secondsOf = ({ p50, p95, most }: Percentiles): string[] =>
  [p50, p95, most].map((ms) => `${(ms / 1_000).toFixed(1)} s`);
