import type { EngineDeps, EngineSettings } from '../deps.ts';
import type { Suspects } from '../ports/ledger/overview.ts';
import type { Cancellation } from '../ports/tools.ts';

/** What is looked at, in this order. */
export const CHECKS = ['batches', 'lanes', 'parked', 'outbox', 'orphans', 'memories', 'plans', 'index'] as const;
export type CheckName = (typeof CHECKS)[number];

/**
 * quick   figures that every ledger has at hand; for measuring again and again
 * usual   everything that is counted, and samples of what has to be read
 * full    everything
 */
export type Depth = 'quick' | 'usual' | 'full';

/** Something that is not as it should be, and what to do about it. */
export interface Finding {
  readonly check: CheckName;
  /** error: a promise is broken. warning: nothing is lost, but somebody should look. */
  readonly severity: 'error' | 'warning';
  readonly what: string;
  readonly count: number;
  /** Ids of some of them. */
  readonly examples: readonly string[];
  readonly remedy: string;
}

/** What one check looked at. */
export interface Checked {
  readonly looked: number;
  readonly findings: readonly Finding[];
}

export type DoctorDeps = Pick<EngineDeps, 'ledger' | 'index' | 'embedder' | 'tools'> & {
  readonly settings: Pick<EngineSettings, 'messagesInIndex'>;
};

/** What a check works with. */
export interface Examining {
  readonly deps: DoctorDeps;
  readonly depth: Depth;
  readonly cancel: Cancellation;
  onProgress(done: number, total: number): void;
}

/** Examples beside a count. */
export const EXAMPLES_MAX = 5;

export const REPORT_IT =
  'this must never happen: keep the ledger as it is (slowwave backup), and report it with the output of ' +
  'slowwave doctor --full --json';

/** Of what a ledger found in itself; nothing where it found nothing. */
export const findingOf = (
  { count, examples }: Suspects,
  finding: Omit<Finding, 'count' | 'examples'>,
): readonly Finding[] => (count === 0 ? [] : [{ ...finding, count, examples }]);
