import type { Config } from '@slowwave/adapters/config';
import { EngineError, type Log } from '@slowwave/engine';

/** What was tried with a model, and what came of it. */
export interface Trial {
  readonly model: string;
  readonly tried: string;
  /** limited: it works, but not as well as it could. */
  readonly verdict: 'ok' | 'limited' | 'failed';
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
  /** With each trial: some take long. */
  readonly begin: () => void;
}

/** A trial, whatever comes of it. An error says in one sentence what was expected, what was received and what to do. */
export async function attempt(
  { begin }: Pick<Trying, 'begin'>,
  of: Pick<Trial, 'model' | 'tried'>,
  work: () => Promise<Omit<Trial, 'model' | 'tried'>>,
): Promise<Trial> {
  begin();
  try {
    return { ...of, ...(await work()) };
  } catch (error) {
    if (!(error instanceof EngineError)) throw error;
    return { ...of, verdict: 'failed', came: error.code, advice: error.message };
  }
}

/** The answer of whoever is in time; null: it was not. */
export async function within<T>(
  { cancel }: Pick<Trying, 'cancel'>,
  ms: number,
  ask: (cancel: AbortSignal) => Promise<T>,
): Promise<T | null> {
  const late = AbortSignal.timeout(ms);
  try {
    return await ask(AbortSignal.any([cancel, late]));
  } catch (error) {
    if (late.aborted && !cancel.aborted) return null;
    throw error;
  }
}

export const SECOND_MS = 1_000;
export const secondsSince = (startedAt: number): string =>
  `${((performance.now() - startedAt) / SECOND_MS).toFixed(1)} s`;
