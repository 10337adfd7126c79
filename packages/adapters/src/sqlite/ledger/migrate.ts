import { EngineError } from '@slowwave/engine/storing';
import { refuseTooNew } from '../../ledger/newer-schema.ts';
import { MIGRATIONS } from './migrations.ts';
import type { Sql } from './sql.ts';

/** Brings the file to the newest schema. Safe when several processes open it at once: one migrates, the others wait. */
export function migrate(sql: Sql, newLedgerId: string): void {
  if (isMigrated(sql)) return;
  const run = sql.db.transaction(() => {
    if (isMigrated(sql)) return; // again: another process may have migrated while this one waited
    for (const migration of MIGRATIONS.slice(schemaOf(sql))) sql.db.exec(migration);
    sql.db.prepare("INSERT INTO meta (key, value) VALUES ('ledger_id', ?) ON CONFLICT DO NOTHING").run(newLedgerId);
    sql.db.pragma(`user_version = ${MIGRATIONS.length}`);
  });
  run.exclusive();
}

/** For a process that only reads: the file must have a schema this release works on. */
export function requireSchema(sql: Sql): void {
  if (isMigrated(sql)) return;
  throw unusable(
    `the ledger ${sql.db.name} has schema ${schemaOf(sql)}, this release reads schema ${MIGRATIONS.length}; ` +
      'start a process of this release that writes (ingest, worker or standalone) first: it migrates the file',
  );
}

/** The ledger's name for ever. */
export function ledgerIdOf(sql: Sql): string {
  const row = sql.get<{ value: string }>("SELECT value FROM meta WHERE key = 'ledger_id'");
  if (row === null) throw unusable(`the ledger ${sql.db.name} has no id; restore the file from a backup`);
  return row.value;
}

/** Nothing is left to do: the file has this release's schema or the next one's. Refuses what is newer. */
function isMigrated(sql: Sql): boolean {
  const schema = schemaOf(sql);
  refuseTooNew(` ${sql.db.name}`, { schema, known: MIGRATIONS.length });
  return schema >= MIGRATIONS.length;
}

const schemaOf = (sql: Sql): number => sql.db.pragma('user_version', { simple: true }) as number;

const unusable = (message: string): EngineError =>
  new EngineError(message, { code: 'ledger_unavailable', retryable: false });
