import { EngineError, type Log } from '@slowwave/engine';
import type { PoolClient } from 'pg';
import { ENDED, hasOwner, missingIn, newestOf, POSTGRES_SCHEMA_100, refuseForeign } from '../../ledger/schema.ts';
import { inTransaction } from '../pool.ts';

/** The PostgreSQL schema that all tables of the ledger live in. */
export const SCHEMA = 'slowwave';

/** The lock under which one process at a time migrates: a number that only has to differ from other programs'. */
const MIGRATION_LOCK = 1_402_718_295;

/** The oldest server the statements were written for; older ones are no longer maintained. */
const OLDEST_SERVER = 130_000;

interface Migrating {
  readonly newLedgerId: string;
  readonly log: Log;
  readonly migrations?: readonly string[];
}

/** Brings the database to the newest schema. Safe when several processes start at once: one migrates, the others wait. */
export async function migrate(
  client: PoolClient,
  { newLedgerId, log, migrations = MIGRATIONS }: Migrating,
): Promise<void> {
  await checkServer(client, log);
  if ((await missing(client, migrations)).length === 0) return;
  await inTransaction(client, async () => {
    // A migration of a big ledger, and waiting for one, take their time.
    await client.query('SET LOCAL statement_timeout = 0; SET LOCAL lock_timeout = 0');
    await client.query(`SELECT pg_advisory_xact_lock(${MIGRATION_LOCK})`);
    await applyMissing(client, newLedgerId, migrations);
  });
}

/** The ledger's name for ever. */
export async function ledgerIdOf(client: PoolClient): Promise<string> {
  const { rows } = await client.query("SELECT value FROM meta WHERE key = 'ledger_id'");
  const id: unknown = rows[0]?.value;
  if (typeof id !== 'string') throw unusable('the ledger has no id; restore the database from a backup');
  return id;
}

async function applyMissing(client: PoolClient, newLedgerId: string, migrations: readonly string[]): Promise<void> {
  const texts = await missing(client, migrations); // again: another process may have migrated while this one waited
  if (texts.length === 0) return;
  await client.query(`CREATE SCHEMA IF NOT EXISTS ${SCHEMA}`);
  for (const text of texts) await client.query(text);
  const set = 'INSERT INTO meta (key, value) VALUES ($1, $2) ON CONFLICT (key)';
  await client.query(`${set} DO NOTHING`, ['ledger_id', newLedgerId]);
  await client.query(`${set} DO UPDATE SET value = excluded.value`, ['schema', String(newestOf(migrations))]);
}

async function missing(client: PoolClient, migrations: readonly string[]): Promise<readonly string[]> {
  const schema = await schemaOf(client);
  refuseForeign('the ledger', schema, migrations);
  return missingIn(migrations, schema);
}

/** The number of the last migration that ran; 0 for a new database. */
async function schemaOf(client: PoolClient): Promise<number> {
  const { rows: found } = await client.query(`SELECT to_regclass('${SCHEMA}.meta') IS NOT NULL AS made`);
  if (found[0]?.made !== 1) return 0;
  const { rows } = await client.query("SELECT value FROM meta WHERE key = 'schema'");
  return Number(rows[0]?.value ?? 0);
}

async function checkServer(client: PoolClient, log: Log): Promise<void> {
  const { rows } = await client.query(`
    SELECT current_setting('server_version_num') AS number, current_setting('server_version') AS version,
      current_setting('search_path') AS path, current_setting('fsync') AS fsync`);
  const { number, version, path, fsync } = rows[0] ?? {};
  if (Number(number) < OLDEST_SERVER) {
    throw unusable(`expected PostgreSQL 13 or newer, got ${version}; upgrade the server`);
  }
  if (path !== SCHEMA) {
    throw unusable(
      `expected connections with search_path ${SCHEMA}, got ${path}: something between here and ` +
        'the server drops connection options; connect to the server itself, or use a pooler that keeps sessions and their options',
    );
  }
  if (fsync === 'off') {
    log.warn({}, 'the database server runs with fsync off: acknowledged batches are lost if its machine crashes');
  }
}

const unusable = (message: string): EngineError =>
  new EngineError(message, { code: 'ledger_unavailable', retryable: false });

/** Of counters: more than connections that write at the same time. */
const SLOTS = 64;

interface Counted {
  /** Of the trigger that counts; the one that writes has it with another ending. */
  readonly name: string;
  readonly after: string;
  readonly when?: string;
  readonly by: string;
}

/** A trigger that counts a row, and one that writes what was counted when the transaction ends. */
const counted = ({ name, after, when = '', by }: Counted): string => `
CREATE TRIGGER ${name} AFTER ${after} FOR EACH ROW ${when} EXECUTE FUNCTION ${by}();
CREATE CONSTRAINT TRIGGER ${name}_written AFTER ${after} DEFERRABLE INITIALLY DEFERRED FOR EACH ROW ${when}
EXECUTE FUNCTION write_counts();`;

/** What PostgreSQL alone does in its own way. */
const OWN = `
CREATE INDEX batches_pending ON batches (lane, position) WHERE state = 'pending';

CREATE FUNCTION refuse_change_of_trail() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'entries of the trail are not changed';
END $$;
CREATE TRIGGER trail_is_append_only BEFORE UPDATE ON trail FOR EACH ROW
WHEN (NEW.subject_kind IS DISTINCT FROM 'erasure'
  OR (NEW.tenant, NEW.at, NEW.id, NEW.actor, NEW.session, NEW.action, NEW.status, NEW.code)
    IS DISTINCT FROM (OLD.tenant, OLD.at, OLD.id, OLD.actor, OLD.session, OLD.action, OLD.status, OLD.code))
EXECUTE FUNCTION refuse_change_of_trail();
CREATE TRIGGER posts_are_append_only BEFORE UPDATE ON trail_posts FOR EACH ROW
WHEN (left(NEW.entries, length(OLD.entries)) IS DISTINCT FROM OLD.entries
  OR (NEW.tenant, NEW.stretch, NEW.actor, NEW.part) IS DISTINCT FROM (OLD.tenant, OLD.stretch, OLD.actor, OLD.part))
EXECUTE FUNCTION refuse_change_of_trail();

-- What is counted as rows come and go, so that nobody has to read them all. A transaction adds up its changes in a setting of its own, and
-- writes the sums when it is about to end, each connection to rows of its own: nobody waits for another one's count, and a row
-- of a thousand changes is written once.
CREATE FUNCTION keep_count(tenant text, name text, change bigint) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  counts jsonb := coalesce(nullif(current_setting('slowwave.counts', true), ''), '{}');
  key text := name || ' ' || tenant;
BEGIN
  PERFORM set_config('slowwave.counts',
    jsonb_set(counts, ARRAY[key], to_jsonb(coalesce((counts ->> key)::bigint, 0) + change))::text, true);
END $$;

CREATE FUNCTION write_counts() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  counts jsonb := nullif(current_setting('slowwave.counts', true), '');
BEGIN
  IF counts IS NULL THEN
    RETURN NULL;
  END IF;
  PERFORM set_config('slowwave.counts', '', true);
  INSERT INTO ${SCHEMA}.counters AS c (tenant, name, slot, value)
  SELECT substr(key, strpos(key, ' ') + 1), split_part(key, ' ', 1), pg_backend_pid() % ${SLOTS}, value::bigint
  FROM jsonb_each_text(counts) WHERE value <> '0' ORDER BY key
  ON CONFLICT (tenant, name, slot) DO UPDATE SET value = c.value + excluded.value;
  RETURN NULL;
END $$;

CREATE FUNCTION count_ended() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP <> 'INSERT' AND OLD.state IN ${ENDED} THEN
    PERFORM ${SCHEMA}.keep_count(OLD.tenant, OLD.state, -1);
  END IF;
  IF TG_OP <> 'DELETE' AND NEW.state IN ${ENDED} THEN
    PERFORM ${SCHEMA}.keep_count(NEW.tenant, NEW.state, 1);
  END IF;
  RETURN NULL;
END $$;
${counted({ name: 'ended_added', after: 'INSERT ON batches', when: `WHEN (NEW.state IN ${ENDED})`, by: 'count_ended' })}
${counted({ name: 'ended_changed', after: 'UPDATE OF state ON batches', when: `WHEN (OLD.state <> NEW.state AND (OLD.state IN ${ENDED} OR NEW.state IN ${ENDED}))`, by: 'count_ended' })}
${counted({ name: 'ended_removed', after: 'DELETE ON batches', when: `WHEN (OLD.state IN ${ENDED})`, by: 'count_ended' })}

CREATE FUNCTION count_memory() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  tenant text := CASE TG_OP WHEN 'DELETE' THEN OLD.tenant ELSE NEW.tenant END;
  memories bigint := 0;
  versions bigint := 0;
BEGIN
  IF TG_OP <> 'DELETE' THEN
    memories := NEW.live::int;
    versions := NEW.version_count;
  END IF;
  IF TG_OP <> 'INSERT' THEN
    memories := memories - OLD.live::int;
    versions := versions - OLD.version_count;
  END IF;
  IF memories <> 0 THEN
    PERFORM ${SCHEMA}.keep_count(tenant, 'memories', memories);
  END IF;
  IF versions <> 0 THEN
    PERFORM ${SCHEMA}.keep_count(tenant, 'versions', versions);
  END IF;
  RETURN NULL;
END $$;
${counted({ name: 'memory_added_or_removed', after: 'INSERT OR DELETE ON memories', by: 'count_memory' })}
${counted({ name: 'memory_changed', after: 'UPDATE OF live, version_count ON memories', when: 'WHEN ((OLD.live, OLD.version_count) <> (NEW.live, NEW.version_count))', by: 'count_memory' })}

CREATE FUNCTION count_owner() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP <> 'INSERT' AND ${hasOwner('OLD')} THEN
    PERFORM ${SCHEMA}.keep_count(OLD.tenant, 'owners', -1);
  END IF;
  IF TG_OP <> 'DELETE' AND ${hasOwner('NEW')} THEN
    PERFORM ${SCHEMA}.keep_count(NEW.tenant, 'owners', 1);
  END IF;
  RETURN NULL;
END $$;
${counted({ name: 'owner_added_or_removed', after: 'INSERT OR DELETE ON lanes', by: 'count_owner' })}
${counted({ name: 'owner_changed', after: 'UPDATE OF erasure, cold ON lanes', when: `WHEN ((${hasOwner('OLD')}) <> (${hasOwner('NEW')}))`, by: 'count_owner' })}
`;

/** In order: the first makes schema 100 in an empty ledger, the next makes 101. Never edit one that was released; append. */
export const MIGRATIONS: readonly string[] = [POSTGRES_SCHEMA_100 + OWN];
