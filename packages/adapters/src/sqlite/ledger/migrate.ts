import { EngineError } from '@slowwave/engine';
import { MIGRATIONS } from './migrations.ts';
import type { Sql } from './sql.ts';

/** Brings the file to the newest schema. Safe when several processes open it at once: one migrates, the others wait. */
export function migrate(sql: Sql, newLedgerId: string): void {
  refuseNewer(sql);
  if (schemaOf(sql) === MIGRATIONS.length) return;
  const run = sql.db.transaction(() => {
    refuseNewer(sql); // again: another process may have migrated while this one waited
    for (const migration of MIGRATIONS.slice(schemaOf(sql))) sql.db.exec(migration);
    sql.db.prepare("INSERT INTO meta (key, value) VALUES ('ledger_id', ?) ON CONFLICT DO NOTHING").run(newLedgerId);
    sql.db.pragma(`user_version = ${MIGRATIONS.length}`);
  });
  run.exclusive();
}

/** For a process that only reads: the file must have exactly the schema this release knows. */
export function requireSchema(sql: Sql): void {
  refuseNewer(sql);
  const schema = schemaOf(sql);
  if (schema === MIGRATIONS.length) return;
  throw unusable(
    `the ledger ${sql.db.name} has schema ${schema}, this release reads schema ${MIGRATIONS.length}; ` +
      'start a process of this release that writes (ingest, worker or standalone) first: it migrates the file',
  );
}

/** The ledger's name for ever. */
export function ledgerIdOf(sql: Sql): string {
  const row = sql.get<{ value: string }>("SELECT value FROM meta WHERE key = 'ledger_id'");
  if (row === null) throw unusable(`the ledger ${sql.db.name} has no id; restore the file from a backup`);
  return row.value;
}

function refuseNewer(sql: Sql): void {
  const schema = schemaOf(sql);
  if (schema <= MIGRATIONS.length) return;
  throw unusable(
    `the ledger ${sql.db.name} has schema ${schema}, this release knows schemas up to ${MIGRATIONS.length}: ` +
      'a newer release has opened it; start that release, or restore a backup from before the upgrade',
  );
}

const schemaOf = (sql: Sql): number => sql.db.pragma('user_version', { simple: true }) as number;

const unusable = (message: string): EngineError =>
  new EngineError(message, { code: 'ledger_unavailable', retryable: false });
