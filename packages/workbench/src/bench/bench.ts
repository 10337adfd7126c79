import type { Found } from './report.ts';

/** An option of a bench, with the value it has when it is not given. */
interface Flag {
  readonly usual: string;
  readonly help: string;
}

/** Where a person watching sees how far it is; replaces what was said last. */
export type Progress = (text: string) => void;

/** The options of one run. Each throws UsageError for a value that is of another kind. */
export interface Given {
  number(flag: string, range?: { readonly min?: number; readonly max?: number }): number;
  /** Several, separated by commas. */
  numbers(flag: string, range?: { readonly min?: number; readonly max?: number }): readonly number[];
  choice<const C extends string>(flag: string, choices: readonly C[]): C;
  /** An address of a server; null when none is given. */
  url(flag: string): string | null;
  /** A file or folder that is there; null when none is given. */
  path(flag: string): string | null;
}

export interface Bench {
  readonly name: string;
  /** What it measures, in a line. */
  readonly what: string;
  readonly flags: Readonly<Record<string, Flag>>;
  /** false: it compares nothing, there is nothing to draw. */
  readonly draws?: false;
  run(given: Given, progress: Progress): Promise<Found>;
}
