import { DAY_MS, type EngineDeps } from '@slowwave/engine';

/** So many go in one transaction: a few milliseconds. */
const SLICE = 1_000;

/** Removes entries of the audit log that are older than that. */
export async function dropOldTrail(
  { ledger, tools }: Pick<EngineDeps, 'ledger' | 'tools'>,
  days: number,
  stopping: AbortSignal,
): Promise<void> {
  const before = tools.now() - days * DAY_MS;
  while (!stopping.aborted && (await ledger.trail.drop(before, SLICE)) === SLICE);
}
