import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { isoOf, type Tools } from '@slowwave/engine';
import { Client } from 'pg';
import { environmentWith } from '../config/index.ts';
import { refuseUnknownBackup } from '../ledger/schema.ts';
import { MIGRATIONS, placeOf, SCHEMA_NAME } from '../postgres/index.ts';
import {
  COUNTED,
  type CopySegments,
  type Counts,
  countIn,
  held,
  type Manifest,
  noteBackup,
  notedOf,
  PRIVATE_FILE,
  type RestoredLedger,
  refused,
  sleepersIn,
  writeManifest,
} from './manifest.ts';
import { requireCounts } from './sqlite.ts';

const FILE = 'ledger.dump';
/** Where the former ledger is kept until the restored one is whole. */
const FORMER = `${SCHEMA_NAME}_former`;

interface PostgresBackup {
  readonly url: string;
  readonly folder: string;
  readonly tools: Tools;
  readonly cancel: AbortSignal;
  readonly copySegments: CopySegments;
}

/** A dump of the ledger's schema as it is now, by pg_dump, while others write to it. */
export async function backUpPostgres({ url, folder, tools, cancel, copySegments }: PostgresBackup): Promise<Manifest> {
  return withClient(url, async (client) => {
    // The dump and the counts are of one and the same moment.
    await client.query('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY');
    const snapshot = String((await client.query('SELECT pg_export_snapshot() AS id')).rows[0]?.id);
    const taken = { ledger_id: await metaOf(client, 'ledger_id'), taken_at: isoOf(tools.now()) };
    const schema = Number(await metaOf(client, 'schema'));
    const [counts, sleepers] = [await countsOf(client), await sleepersOf(client)];
    const file = join(folder, FILE);
    await mkdir(folder, { recursive: true });
    const args = ['--format=custom', `--schema=${SCHEMA_NAME}`, '--no-owner', '--no-privileges'];
    await program('pg_dump', [...args, `--snapshot=${snapshot}`, `--file=${file}`], { url, cancel });
    await chmod(file, PRIVATE_FILE);
    const segments = await copySegments(sleepers);
    const manifest = await writeManifest(folder, { kind: 'postgres', ...taken, schema, file: FILE, segments, counts });
    await client.query('COMMIT');
    await client.query(noteBackup(`${SCHEMA_NAME}.meta`, '$1'), [notedOf(manifest)]);
    return manifest;
  });
}

interface PostgresRestore {
  readonly manifest: Manifest;
  readonly folder: string;
  readonly url: string;
  readonly force: boolean;
  readonly tools: Tools;
  readonly cancel: AbortSignal;
}

/**
 * Puts a backup in the place of the ledger, under a new id, by pg_restore. The former ledger is moved aside first, and
 * comes back when anything fails.
 */
export async function restorePostgres(given: PostgresRestore): Promise<RestoredLedger> {
  const { manifest, folder, url, force, tools, cancel } = given;
  refuseUnknownBackup(manifest.schema, MIGRATIONS);
  return withClient(url, async (client) => {
    const replaces = await moveAside(client, { url, force });
    try {
      const args = ['--no-owner', '--no-privileges', '--exit-on-error', '--single-transaction'];
      await program('pg_restore', [...args, join(folder, manifest.file)], { url, cancel });
      requireCounts(manifest, await countsOf(client));
      const restored = { ledgerId: await rename(client, tools), sleepers: await sleepersOf(client) };
      await client.query(`DROP SCHEMA IF EXISTS ${FORMER} CASCADE`);
      return restored;
    } catch (error) {
      await client.query(`DROP SCHEMA IF EXISTS ${SCHEMA_NAME} CASCADE`);
      if (replaces) await client.query(`ALTER SCHEMA ${FORMER} RENAME TO ${SCHEMA_NAME}`);
      throw error;
    }
  });
}

/** Whether there was a ledger. */
async function moveAside(client: Client, { url, force }: { url: string; force: boolean }): Promise<boolean> {
  await requireAlone(client, url);
  const { rows } = await client.query('SELECT nspname AS name FROM pg_namespace WHERE nspname = ANY($1)', [
    [SCHEMA_NAME, FORMER],
  ]);
  const names = rows.map(({ name }) => String(name));
  if (names.length > 0 && !force) throw taken(url);
  // A former one is left only by a restore that was killed: what stands in its place is not whole.
  if (names.includes(FORMER)) await client.query(`DROP SCHEMA IF EXISTS ${SCHEMA_NAME} CASCADE`);
  else if (names.includes(SCHEMA_NAME)) await client.query(`ALTER SCHEMA ${SCHEMA_NAME} RENAME TO ${FORMER}`);
  return names.length > 0;
}

/** The database server ends the connections of a process a moment after the process itself has ended. */
async function requireAlone(client: Client, url: string): Promise<void> {
  let others = await othersOn(client);
  for (let looks = 1; others > 0 && looks < LOOKS_MAX; looks += 1) {
    await sleep(LOOK_EVERY_MS);
    others = await othersOn(client);
  }
  if (others === 0) return;
  throw held(
    `the ledger at ${placeOf(url)} is in use by ${others} connections of Slowwave; stop every server on this ` +
      'data, then restore',
  );
}

const LOOKS_MAX = 20;
const LOOK_EVERY_MS = 100;

async function othersOn(client: Client): Promise<number> {
  const { rows } = await client.query(
    `SELECT count(*)::int AS others FROM pg_stat_activity
     WHERE datname = current_database() AND application_name = 'slowwave' AND pid <> pg_backend_pid()`,
  );
  return Number(rows[0]?.others);
}

/** What was restored is another past: an index that was made later must not be believed. */
async function rename(client: Client, tools: Tools): Promise<string> {
  const ledgerId = tools.id('led');
  const set = `INSERT INTO ${SCHEMA_NAME}.meta (key, value) VALUES ($1, $2) ON CONFLICT (key) DO UPDATE SET value = excluded.value`;
  await client.query('BEGIN');
  await client.query(set, ['restored_from', await metaOf(client, 'ledger_id')]);
  await client.query(set, ['restored_at', String(tools.now())]);
  await client.query(set, ['ledger_id', ledgerId]);
  await client.query('COMMIT');
  return ledgerId;
}

async function metaOf(client: Client, key: string): Promise<string> {
  const { rows } = await client.query(`SELECT value FROM ${SCHEMA_NAME}.meta WHERE key = $1`, [key]);
  return String(rows[0]?.value);
}

async function sleepersOf(client: Client): Promise<readonly string[]> {
  const { rows } = await client.query(sleepersIn(`${SCHEMA_NAME}.`));
  return rows.map(({ name }) => String(name));
}

async function countsOf(client: Client): Promise<Counts> {
  const counts: Partial<Record<keyof Counts, number>> = {};
  for (const table of COUNTED) {
    const { rows } = await client.query(`SELECT (${countIn(table, `${SCHEMA_NAME}.`)}) AS count`);
    counts[table] = Number(rows[0]?.count);
  }
  return counts as Counts;
}

async function withClient<T>(url: string, work: (client: Client) => Promise<T>): Promise<T> {
  const client = new Client({ connectionString: url, application_name: 'slowwave-cli' });
  client.on('error', () => {}); // the query that fails of it says so
  try {
    await client.connect();
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw refused(`expected the database at ${placeOf(url)} to answer, got: ${why}; check that it is running`, error);
  }
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}

interface Running {
  readonly url: string;
  readonly cancel: AbortSignal;
}

/** Runs a program of PostgreSQL. The password goes by the environment: others can read command lines. */
async function program(name: string, args: readonly string[], { url, cancel }: Running): Promise<void> {
  const address = new URL(url);
  const password = decodeURIComponent(address.password);
  address.password = '';
  const env = environmentWith(password === '' ? {} : { PGPASSWORD: password });
  const stdio: ['ignore', 'ignore', 'pipe'] = ['ignore', 'ignore', 'pipe'];
  const child = spawn(name, [...args, `--dbname=${address.href}`], { env, stdio, signal: cancel });
  const said = text(child.stderr);
  const [code] = await once(child, 'close').catch((error: unknown) => {
    throw notRun(name, error);
  });
  if (code !== 0) throw refused(`${name} ended with ${code}: ${(await said).trim()}`);
}

function notRun(name: string, error: unknown) {
  const missing = error instanceof Error && 'code' in error && error.code === 'ENOENT';
  const got = missing ? 'no such program' : String(error);
  return refused(
    `expected ${name} of PostgreSQL, got: ${got}; install its client programs in the server's version or newer ` +
      '(Debian: apt-get install postgresql-client)',
    error,
  );
}

const taken = (url: string) =>
  refused(`expected no ledger at ${placeOf(url)}, got one; back it up first, then replace it with --force`);
