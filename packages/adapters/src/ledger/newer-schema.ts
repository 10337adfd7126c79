import { EngineError } from '@slowwave/engine/storing';

/**
 * How many schemas beyond its own a release works on. Migrations only add what an older release does not look at, so that
 * a fleet is upgraded one process after the other while it runs. One is what a next release may add and no more.
 */
const ACCEPTED_BEYOND = 1;

/** Refuses a ledger that is too new for a release whose migrations lead up to the schema `known`. */
export function refuseTooNew(ledger: string, { schema, known }: { schema: number; known: number }): void {
  const newest = known + ACCEPTED_BEYOND;
  if (schema <= newest) return;
  throw new EngineError(
    `the ledger${ledger} has schema ${schema}, this release works on schemas up to ${newest}: a newer release has opened ` +
      'it; start that release, or restore a backup from before the upgrade',
    { code: 'ledger_unavailable', retryable: false },
  );
}
