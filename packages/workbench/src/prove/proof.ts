import type { HowToRun } from '../programs.ts';

/** What a proof works with. */
export interface Tools {
  /** Runs a program of the repository, or of another checkout of it, and reads its report, which is JSON. */
  json(command: readonly string[], options?: HowToRun): Promise<unknown>;
  /** Runs work in a checkout of another commit, which is gone afterwards. */
  withCheckout<T>(commit: string, work: (folder: string) => Promise<T>): Promise<T>;
}

export interface Outcome {
  /** The result in one line. */
  readonly figure: string;
  /** What speaks against it; none: it is proved. */
  readonly failures: readonly string[];
  /** All that was measured. */
  readonly report: unknown;
}

export interface Flag {
  readonly help: string;
  readonly usual?: string;
  /** Without it there is nothing to prove. */
  readonly required?: true;
}

export type Given = Readonly<Record<string, string>>;

export interface Proof {
  readonly name: string;
  readonly proves: string;
  /** On two cores that do little else. */
  readonly takes: string;
  readonly flags: Readonly<Record<string, Flag>>;
  run(given: Given, tools: Tools): Promise<Outcome>;
}
