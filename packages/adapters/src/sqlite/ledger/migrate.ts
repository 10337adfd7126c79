import { EngineError } from '@slowwave/engine/storing';
import { ENDED, hasOwner, missingIn, newestOf, refuseForeign, SQLITE_SCHEMA_100 } from '../../ledger/schema.ts';
import type { Sql } from './sql.ts';

/** Brings the file to the newest schema. Safe when several processes open it at once: one migrates, the others wait. */
export function migrate(sql: Sql, newLedgerId: string, migrations = MIGRATIONS): void {
  if (missing(sql, migrations).length === 0) return;
  const run = sql.db.transaction(() => {
    const texts = missing(sql, migrations); // again: another process may have migrated while this one waited
    if (texts.length === 0) return;
    for (const text of texts) sql.db.exec(text);
    sql.db.prepare("INSERT INTO meta (key, value) VALUES ('ledger_id', ?) ON CONFLICT DO NOTHING").run(newLedgerId);
    sql.db.pragma(`user_version = ${newestOf(migrations)}`);
  });
  run.exclusive();
}

/** For a process that only reads: the file must have a schema this release works on. */
export function requireSchema(sql: Sql): void {
  if (missing(sql, MIGRATIONS).length === 0) return;
  throw unusable(
    `the ledger ${sql.db.name} has schema ${schemaOf(sql)}, this release reads schema ${newestOf(MIGRATIONS)}; ` +
      'start a process of this release that writes (ingest, worker or standalone) first: it migrates the file',
  );
}

/** The ledger's name for ever. */
export function ledgerIdOf(sql: Sql): string {
  const row = sql.get<{ value: string }>("SELECT value FROM meta WHERE key = 'ledger_id'");
  if (row === null) throw unusable(`the ledger ${sql.db.name} has no id; restore the file from a backup`);
  return row.value;
}

function missing(sql: Sql, migrations: readonly string[]): readonly string[] {
  const schema = schemaOf(sql);
  refuseForeign(`the ledger ${sql.db.name}`, schema, migrations);
  return missingIn(migrations, schema);
}

const schemaOf = (sql: Sql): number => sql.db.pragma('user_version', { simple: true }) as number;

const unusable = (message: string): EngineError =>
  new EngineError(message, { code: 'ledger_unavailable', retryable: false });

/** In a trigger; nothing is written where nothing changes. There is one writer at a time, and one slot. */
const keepCount = (tenant: string, name: string, change: string): string => `
  INSERT INTO counters (tenant, name, slot, value) SELECT ${tenant}, ${name}, 0, ${change} WHERE (${change}) <> 0
  ON CONFLICT (tenant, name, slot) DO UPDATE SET value = value + excluded.value;`;

/** What SQLite alone does in its own way: counting what waits in a lane reads nothing but the index. */
const OWN = `
CREATE INDEX batches_pending ON batches (lane, position, tokens, exchanges, accepted_at, backfill) WHERE state = 'pending';

CREATE TRIGGER trail_is_append_only BEFORE UPDATE ON trail
WHEN NEW.subject_kind IS NOT 'erasure'
  OR (NEW.tenant, NEW.at, NEW.id, NEW.actor, NEW.session, NEW.action, NEW.status, NEW.code)
    IS NOT (OLD.tenant, OLD.at, OLD.id, OLD.actor, OLD.session, OLD.action, OLD.status, OLD.code)
BEGIN
  SELECT RAISE(ABORT, 'entries of the trail are not changed');
END;

CREATE TRIGGER posts_are_append_only BEFORE UPDATE ON trail_posts
WHEN substr(NEW.entries, 1, length(OLD.entries)) IS NOT OLD.entries
  OR (NEW.tenant, NEW.stretch, NEW.actor, NEW.part) IS NOT (OLD.tenant, OLD.stretch, OLD.actor, OLD.part)
BEGIN
  SELECT RAISE(ABORT, 'entries of the trail are not changed');
END;

-- What is counted as rows come and go, so that nobody has to read them all.
CREATE TRIGGER ended_added AFTER INSERT ON batches WHEN NEW.state IN ${ENDED}
BEGIN ${keepCount('NEW.tenant', 'NEW.state', '1')} END;
CREATE TRIGGER ended_changed AFTER UPDATE OF state ON batches WHEN OLD.state <> NEW.state
BEGIN
  ${keepCount('OLD.tenant', 'OLD.state', `-(OLD.state IN ${ENDED})`)}
  ${keepCount('NEW.tenant', 'NEW.state', `NEW.state IN ${ENDED}`)}
END;
CREATE TRIGGER ended_removed AFTER DELETE ON batches WHEN OLD.state IN ${ENDED}
BEGIN ${keepCount('OLD.tenant', 'OLD.state', '-1')} END;

CREATE TRIGGER memory_added AFTER INSERT ON memories
BEGIN ${keepCount('NEW.tenant', "'memories'", 'NEW.live')} ${keepCount('NEW.tenant', "'versions'", 'NEW.version_count')} END;
CREATE TRIGGER memory_changed AFTER UPDATE OF live, version_count ON memories
BEGIN
  ${keepCount('NEW.tenant', "'memories'", 'NEW.live - OLD.live')}
  ${keepCount('NEW.tenant', "'versions'", 'NEW.version_count - OLD.version_count')}
END;
CREATE TRIGGER memory_removed AFTER DELETE ON memories
BEGIN ${keepCount('OLD.tenant', "'memories'", '-OLD.live')} ${keepCount('OLD.tenant', "'versions'", '-OLD.version_count')} END;

CREATE TRIGGER owner_added AFTER INSERT ON lanes WHEN ${hasOwner('NEW')}
BEGIN ${keepCount('NEW.tenant', "'owners'", '1')} END;
CREATE TRIGGER owner_changed AFTER UPDATE OF erasure, cold ON lanes
BEGIN ${keepCount('NEW.tenant', "'owners'", `(${hasOwner('NEW')}) - (${hasOwner('OLD')})`)} END;
CREATE TRIGGER owner_removed AFTER DELETE ON lanes WHEN ${hasOwner('OLD')}
BEGIN ${keepCount('OLD.tenant', "'owners'", '-1')} END;
`;

/** In order: the first makes schema 100 in an empty ledger, the next makes 101. Never edit one that was released; append. */
export const MIGRATIONS: readonly string[] = [SQLITE_SCHEMA_100 + OWN];
