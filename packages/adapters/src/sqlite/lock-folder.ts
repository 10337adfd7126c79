import { lookup } from 'node:dns/promises';
import { existsSync } from 'node:fs';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { EngineError } from '@slowwave/engine/storing';
import Database from 'better-sqlite3';

interface Lock {
  close(): Promise<void>;
}

const LOCK_FILE = 'standalone.lock';
/** Beside the lock: which queue its holder works from. */
const QUEUE_FILE = 'standalone.queue';

/** Claims a data folder for this process; throws when another living process has it. A crash leaves nothing locked. */
export async function lockFolder(folder: string, queue: QueueServer = null): Promise<Lock> {
  await mkdir(folder, { recursive: true });
  const held = holdFile(join(folder, LOCK_FILE));
  if ('close' in held) {
    await writeFile(join(folder, QUEUE_FILE), (await namesOf(queue)).join('\n'));
    return { close: async () => held.close() };
  }
  throw new EngineError(
    `the data folder ${folder} is in use by process ${held.heldBy}: stop it, or choose another folder with ` +
      'SLOWWAVE_DATA_DIR (--data-dir). Several processes share a folder only as ingest, worker, search and console on ' +
      'one Redis; see docs/databases.md',
    { code: 'ledger_unavailable', retryable: true },
  );
}

/**
 * Refuses to work on a folder beside a process that works it from another queue: both would take the same lanes, and pay for
 * each turn twice.
 */
export async function requireSameQueue(folder: string, queue: string): Promise<void> {
  const lock = join(folder, LOCK_FILE);
  const holder = heldBy(lock);
  if (holder === null) return;
  const theirs = (await readFile(join(folder, QUEUE_FILE), 'utf8').catch(() => IN_PROCESS)).split('\n');
  const ours = await namesOf(queue);
  if (ours.some((name) => theirs.includes(name))) return;
  const where = theirs.includes(IN_PROCESS) ? 'a queue of its own in memory' : 'a queue on another server';
  throw new EngineError(
    `process ${holder} works on the data folder ${folder} with ${where}: two queues on one ledger would run every ` +
      'turn twice. Stop it, start it with the REDIS_URL of this one, or choose another folder with SLOWWAVE_DATA_DIR',
    { code: 'ledger_unavailable', retryable: false },
  );
}

/** A file that this process holds. */
interface HeldFile {
  close(): void;
}

/** Another starter holds the file for a moment only, while it finds out who is first. */
const BUSY_TIMEOUT_MS = 200;

/**
 * Holds a file until it is closed or the process ends, however it ends: the lock is the operating system's, so that
 * none is ever left behind by a crash. Answers with the number of the process that has it when it is not free.
 */
export function holdFile(path: string): HeldFile | { readonly heldBy: number } {
  const db = new Database(path, { timeout: BUSY_TIMEOUT_MS });
  try {
    // Written and committed first, then locked again without a write: others can read the number but not write theirs.
    db.exec('BEGIN IMMEDIATE; CREATE TABLE IF NOT EXISTS holder (pid INTEGER NOT NULL); DELETE FROM holder');
    db.prepare('INSERT INTO holder (pid) VALUES (?)').run(process.pid);
    db.exec('COMMIT; BEGIN IMMEDIATE');
    return { close: () => void db.close() };
  } catch (error) {
    const heldBy = isBusy(error) ? holderOf(db) : null;
    db.close();
    if (heldBy === null) throw error;
    return { heldBy };
  }
}

/** The number of the process that holds a file now; null: none does. Leaves everything as it is. */
function heldBy(path: string): number | null {
  if (!existsSync(path)) return null;
  const db = new Database(path, { timeout: BUSY_TIMEOUT_MS });
  try {
    db.exec('BEGIN IMMEDIATE; ROLLBACK');
    return null;
  } catch (error) {
    if (!isBusy(error)) throw error;
    return holderOf(db);
  } finally {
    db.close();
  }
}

const isBusy = (error: unknown): boolean =>
  error instanceof Database.SqliteError && error.code.startsWith('SQLITE_BUSY');

/** 0 when the holder has only just taken it and not said its number yet. */
function holderOf(db: Database.Database): number {
  try {
    return db.prepare<[], { pid: number }>('SELECT pid FROM holder').get()?.pid ?? 0;
  } catch {
    return 0;
  }
}

/** Where the queue of a process is; null: in the process itself. */
type QueueServer = string | null;

const IN_PROCESS = 'in process';

/**
 * What a queue is called: two URLs with a name in common mean the same one. Who logs in how, and further settings, say nothing
 * about which it is; a host has its name and all its addresses, and all of a machine's own addresses are one.
 */
async function namesOf(queue: QueueServer): Promise<readonly string[]> {
  if (queue === null) return [IN_PROCESS];
  const url = new URL(queue);
  const kind = url.protocol.startsWith('redis') ? REDIS : POSTGRES;
  const rest = `${url.port || kind.port}/${kind.databaseOf(url)}`;
  const host = url.hostname
    .toLowerCase()
    .replace(/^\[|\]$/g, '')
    .replace(/\.$/, '');
  return [...new Set([host, ...(await addressesOf(host))].map(oneOfOwn))].map((name) => `${kind.name} ${name} ${rest}`);
}

interface Kind {
  readonly name: string;
  readonly port: string;
  databaseOf(url: URL): string;
}

const pathOf = ({ pathname }: URL): string => pathname.replace(/^\//, '');

const REDIS: Kind = {
  name: 'redis',
  port: '6379',
  databaseOf: (url) => pathOf(url) || url.searchParams.get('db') || '0',
};
const POSTGRES: Kind = { name: 'postgres', port: '5432', databaseOf: (url) => pathOf(url) || url.username };

/** None for a name that is not known now: it still has itself. */
async function addressesOf(host: string): Promise<readonly string[]> {
  const found = await lookup(host, { all: true }).catch(() => []);
  return found.map(({ address }) => address);
}

const OWN = /^(?:localhost|.*\.localhost|127(?:\.\d+){3}|::1|::ffff:(?:127\.|7f).*)$/;

const oneOfOwn = (host: string): string => (OWN.test(host) ? 'localhost' : host);
