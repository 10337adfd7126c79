import type { Course } from '../course.ts';
import type { Evidence, Stats } from '../evidence.ts';
import type { World } from '../world.ts';

/** What is judged. */
export interface Case {
  readonly world: World;
  readonly course: Course;
  readonly evidence: Evidence;
  readonly posted: { readonly batchIds: readonly string[]; readonly statsBefore: Stats };
  readonly calls: readonly { readonly name: string }[];
}

/** One line of the table. */
export interface GateResult {
  readonly gate: string;
  readonly what: string;
  readonly figures: string;
  readonly target: string;
  readonly passed: boolean;
  /** What went wrong, one line each. */
  readonly misses: readonly string[];
}

export type Gate = (given: Case) => GateResult;

/** 0.98765 → 98.7%, never rounded up to a target it missed. */
export const percent = (share: number): string => `${Math.floor(share * 1_000) / 10}%`;

/** All of none is all. */
export const shareOf = (part: number, whole: number): number => (whole === 0 ? 1 : part / whole);
