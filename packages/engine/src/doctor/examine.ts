import type { Cancellation } from '../ports/tools.ts';
import type { Millis } from '../words.ts';
import { checkIndex } from './check-index.ts';
import {
  checkBatches,
  checkLanes,
  checkMemories,
  checkOrphans,
  checkOutbox,
  checkParked,
  checkPlans,
} from './check-ledger.ts';
import {
  CHECKS,
  type Checked,
  type CheckName,
  type Depth,
  type DoctorDeps,
  type Examining,
  type Finding,
} from './findings.ts';

export interface Examination {
  readonly at: Millis;
  readonly depth: Depth;
  /** No promise is broken; there may be warnings. */
  readonly healthy: boolean;
  readonly checks: readonly { readonly check: CheckName; readonly looked: number; readonly findings: number }[];
  readonly findings: readonly Finding[];
}

export interface HowToExamine {
  readonly depth: Depth;
  readonly cancel: Cancellation;
  /** Only these; all of the depth, unless said. */
  readonly only?: readonly CheckName[];
  readonly onProgress?: (check: CheckName, done: number, total: number) => void;
}

const LOOK: Readonly<Record<CheckName, (examining: Examining) => Promise<Checked>>> = {
  batches: checkBatches,
  lanes: checkLanes,
  parked: checkParked,
  outbox: checkOutbox,
  orphans: checkOrphans,
  memories: checkMemories,
  plans: checkPlans,
  index: checkIndex,
};

/** Of these the figures are at hand. */
const QUICK: readonly CheckName[] = ['batches', 'lanes', 'parked', 'outbox', 'index'];

/**
 * Checks what must hold between batches, lanes, memories, plans and the index, while others go on working. Changes
 * nothing; each finding says what to do.
 */
export async function examine(deps: DoctorDeps, how: HowToExamine): Promise<Examination> {
  const { depth, cancel, onProgress } = how;
  const at = deps.tools.now();
  const checks: Examination['checks'][number][] = [];
  const findings: Finding[] = [];
  for (const check of how.only ?? (depth === 'quick' ? QUICK : CHECKS)) {
    const progress = (done: number, total: number): void => onProgress?.(check, done, total);
    const checked = await LOOK[check]({ deps, depth, cancel, onProgress: progress });
    checks.push({ check, looked: checked.looked, findings: checked.findings.length });
    findings.push(...checked.findings);
  }
  return { at, depth, healthy: findings.every(({ severity }) => severity !== 'error'), checks, findings };
}
