import { DAY_MS, type EngineDeps } from '@slowwave/engine';

/** So many go in one transaction: a few milliseconds. */
const SLICE = 1_000;

/** Removes at most so many that are older than a moment; answers with how many. */
export type Drop = (before: number, limit: number) => Promise<number>;

interface Old {
  readonly days: number;
  readonly drop: Drop;
  readonly stopping: AbortSignal;
}

/** Removes what is older than so many days, slice by slice. */
export async function dropOld({ tools }: Pick<EngineDeps, 'tools'>, { days, drop, stopping }: Old): Promise<void> {
  const before = tools.now() - days * DAY_MS;
  while (!stopping.aborted && (await drop(before, SLICE)) === SLICE);
}
