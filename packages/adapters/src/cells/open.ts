import { mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { EngineError, type Log, type Millis } from '@slowwave/engine';
import type { CellDirectory } from '@slowwave/engine/cells';
import type { Pool } from 'pg';
import type { Access, Script } from '../ledger/script.ts';
import { transactionsOn } from '../postgres/ledger/access.ts';
import { runScript as runOnPostgres } from '../postgres/ledger/script.ts';
import { COLUMN_TYPES } from '../postgres/ledger/text.ts';
import { openPool, placeOf } from '../postgres/pool.ts';
import { beginToWrite, closeWritten, connectToWrite, runScript, type Sql } from '../sqlite/ledger/sql.ts';
import { systemTools } from '../system/index.ts';
import { directoryStore } from './directory.ts';
import { DIRECTORY_SCHEMA, DIRECTORY_SCHEMA_OF_SQLITE } from './schema.ts';

/** A directory of cells that is opened with the number of another schema is refused: it is small, and made anew in a moment. */
const SCHEMA = 1;
const SCHEMA_NAME = 'slowwave_cells';
/** Its transactions take a millisecond. */
const CONNECTIONS = 4;

/** The directory of cells: a SQLite file, or in a database if it is given a postgres URL. */
export const openDirectory = (where: string, log: Log): Promise<CellDirectory> =>
  /^postgres(?:ql)?:/.test(where) ? onPostgres(where, log) : onSqlite(where);

async function onSqlite(path: string): Promise<CellDirectory> {
  mkdirSync(dirname(path), { recursive: true });
  const sql = connectToWrite(path);
  migrateFile(sql);
  const transaction = <T>(script: Script<T>, begin: () => void): T => {
    begin();
    try {
      const result = runScript(sql, script);
      sql.run('COMMIT');
      return result;
    } catch (error) {
      if (sql.db.inTransaction) sql.run('ROLLBACK');
      throw error;
    }
  };
  // In this thread: it is small, and read in microseconds.
  const access: Access = {
    read: async ({ script }, input) => transaction(script(input), () => void sql.run('BEGIN')),
    write: async ({ script }, input) => transaction(script(input), () => beginToWrite(sql)),
  };
  return { ...directoryStore(access), now: async () => systemTools.now(), close: async () => closeWritten(sql) };
}

function migrateFile(sql: Sql): void {
  const make = sql.db.transaction(() => {
    const schema = sql.db.pragma('user_version', { simple: true });
    if (schema === SCHEMA) return;
    if (schema !== 0) throw foreign(sql.db.name, String(schema));
    sql.db.exec(DIRECTORY_SCHEMA_OF_SQLITE);
    sql.db.pragma(`user_version = ${SCHEMA}`);
  });
  make.exclusive();
}

async function onPostgres(url: string, log: Log): Promise<CellDirectory> {
  const place = placeOf(url);
  const pool = openPool({ url, schema: SCHEMA_NAME, max: CONNECTIONS, log, types: COLUMN_TYPES });
  try {
    await migrateDatabase(pool, place);
  } catch (error) {
    await pool.end();
    throw error;
  }
  const own = transactionsOn(pool, { place, holds: 'directory' });
  const access: Access = {
    read: ({ script, atOnce }, input) => (atOnce ? own.snapshot : own.read)((sql) => runOnPostgres(sql, script(input))),
    write: ({ script }, input) => own.write((sql) => runOnPostgres(sql, script(input))),
  };
  const now = async (): Promise<Millis> => Number((await pool.query(SELECT_NOW)).rows[0]?.now);
  return { ...directoryStore(access), now, close: () => pool.end() };
}

const SELECT_NOW = 'SELECT floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint AS now';

/** The time of a directory, read once and counted on from there: no clock of this host moves it. */
export async function clockOf(directory: Pick<CellDirectory, 'now'>): Promise<() => Millis> {
  const behind = (await directory.now()) - performance.now();
  return () => Math.round(behind + performance.now());
}

/** The lock under which one process at a time makes the tables: a number that only has to differ from other programs'. */
const SCHEMA_LOCK = 1_402_718_296;

async function migrateDatabase(pool: Pool, place: string): Promise<void> {
  const client = await pool.connect();
  try {
    await client.query('BEGIN');
    await client.query(`SELECT pg_advisory_xact_lock(${SCHEMA_LOCK})`);
    const made = await client.query(`SELECT to_regclass('${SCHEMA_NAME}.made_with') IS NOT NULL AS made`);
    if (made.rows[0]?.made === 1) {
      const { rows } = await client.query('SELECT schema FROM made_with');
      if (rows[0]?.schema !== SCHEMA) throw foreign(place, String(rows[0]?.schema));
    } else {
      await client.query(`CREATE SCHEMA IF NOT EXISTS ${SCHEMA_NAME}`);
      await client.query(DIRECTORY_SCHEMA);
      await client.query(`CREATE TABLE made_with (schema bigint NOT NULL); INSERT INTO made_with VALUES (${SCHEMA})`);
    }
    await client.query('COMMIT');
  } catch (error) {
    await client.query('ROLLBACK').catch(() => {}); // a lost connection has rolled back by itself
    throw error;
  } finally {
    client.release();
  }
}

const foreign = (where: string, schema: string): EngineError =>
  new EngineError(
    `expected a directory of cells with schema ${SCHEMA} in ${where}, got ${schema}; use the release that created it, or another location`,
    { code: 'ledger_unavailable', retryable: false },
  );
