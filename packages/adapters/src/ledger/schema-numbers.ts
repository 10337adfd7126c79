import { EngineError } from '@slowwave/engine/storing';

/** What the first entry of a dialect's migrations makes. Smaller numbers are of pre-releases, whose tables were others. */
const FIRST = 100;

/**
 * How many schemas beyond its own a release works on. Migrations only add what an older release does not look at, so that
 * a fleet is upgraded one process after the other while it runs. One is what a next release may add and no more.
 */
const ACCEPTED_BEYOND = 1;

/** The schema that a list of migrations leads up to. */
export const newestOf = (migrations: readonly string[]): number => FIRST + migrations.length - 1;

/** What a ledger of this schema still needs: all for a new one (0), nothing for one that a next release has opened. */
export const missingIn = (migrations: readonly string[], schema: number): readonly string[] =>
  schema === 0 ? migrations : migrations.slice(schema - FIRST + 1);

/** Refuses a ledger that was made by a pre-release, or is too new for these migrations. */
export function refuseForeign(ledger: string, schema: number, migrations: readonly string[]): void {
  const newest = newestOf(migrations) + ACCEPTED_BEYOND;
  if (schema === 0 || (schema >= FIRST && schema <= newest)) return;
  const why =
    schema < FIRST
      ? 'a pre-release created it; read it with that checkout, or start with an empty data folder or database'
      : 'a newer release has opened it; start that release, or restore a backup from before the upgrade';
  throw new EngineError(`${ledger} has schema ${schema}, this release works on schemas ${FIRST} to ${newest}: ${why}`, {
    code: 'ledger_unavailable',
    retryable: false,
  });
}

/** Refuses a backup of a schema that these migrations do not lead to: restored, it would be of no use to this release. */
export function refuseUnknownBackup(schema: number, migrations: readonly string[]): void {
  const newest = newestOf(migrations);
  if (schema >= FIRST && schema <= newest) return;
  throw new EngineError(
    `the backup has schema ${schema}, but this release restores schemas ${FIRST} to ${newest}; restore it with the ` +
      'release that made it',
    { code: 'ledger_unavailable', retryable: false },
  );
}

/** Under which a ledger's table of small values says when it was backed up. */
export const LAST_BACKUP = 'last_backup';
