import type { Config } from '@slowwave/adapters/config';
import { EngineError, type Log, type ModelStore } from '@slowwave/engine';
import type { Budget } from './budget.ts';

/** What was tried with a model, and what came of it. */
export interface Trial extends Outcome {
  readonly model: string;
  readonly tried: string;
}

export interface Outcome {
  /** limited: it works, but not as well as it could. */
  readonly verdict: 'ok' | 'limited' | 'failed' | 'not tried';
  readonly came: string;
  /** What to do about it; null: nothing. */
  readonly advice: string | null;
}

export const ok = (came: string) => ({ verdict: 'ok', came, advice: null }) as const;
export const limited = (came: string, advice: string) => ({ verdict: 'limited', came, advice }) as const;

/** What models are tried with. */
export interface Trying {
  readonly config: Config;
  readonly log: Log;
  readonly cancel: AbortSignal;
  readonly budget: Budget;
  /** What is known of models already. */
  readonly known: Pick<ModelStore, 'get'>;
}

/** Something to try. */
export interface Try {
  readonly tried: string;
  /** How long it takes, as far as the calls before it show that. */
  needs(): Needs;
  /** An EngineError is a failure that says in one sentence what was expected, what was received and what to do. */
  run(): Promise<Outcome>;
}

/** In milliseconds. */
export interface Needs {
  /** With less than this it is not worth a start. */
  readonly least: number;
  readonly likely: number;
}

export const NO_TIME: Needs = { least: 0, likely: 0 };

/** A model and all that is tried with it, in the order in which it is shown. If the first try fails, the others are pointless. */
export interface Candidate {
  readonly model: string;
  readonly tries: readonly Try[];
  /** How fast it is, as far as that is known; for people. */
  pace(): string;
  close(): Promise<void>;
}

/** What comes of a try, whatever that is. */
export async function outcomeOf({ run }: Try): Promise<Outcome> {
  try {
    return await run();
  } catch (error) {
    if (!(error instanceof EngineError)) throw error;
    return { verdict: 'failed', came: error.code, advice: error.message };
  }
}
