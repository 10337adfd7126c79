import { EngineError } from '@slowwave/engine';

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

/** A trial, whatever comes of it. An error says in one sentence what was expected, what was received and what to do. */
export async function attempt(
  of: Pick<Trial, 'model' | 'tried'>,
  work: () => Promise<Omit<Trial, 'model' | 'tried'>>,
): Promise<Trial> {
  try {
    return { ...of, ...(await work()) };
  } catch (error) {
    if (!(error instanceof EngineError)) throw error;
    return { ...of, verdict: 'failed', came: error.code, advice: error.message };
  }
}
