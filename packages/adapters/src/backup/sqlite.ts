import { chmod, copyFile, mkdir, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { isoOf, type Tools } from '@slowwave/engine';
import Database from 'better-sqlite3';
import { refuseUnknownBackup } from '../ledger/schema.ts';
import { MIGRATIONS } from '../sqlite/index.ts';
import {
  COUNTED,
  type CopySegments,
  type Counts,
  countIn,
  held,
  type Manifest,
  noteBackup,
  notedOf,
  type OnBytes,
  PRIVATE_FILE,
  type RestoredLedger,
  refused,
  sleepersIn,
  synced,
  writeManifest,
} from './manifest.ts';

const FILE = 'ledger.db';
/** Copied between two looks at whether to stop: some milliseconds. */
const PAGES_AT_ONCE = 500;

interface SqliteBackup {
  readonly path: string;
  readonly folder: string;
  readonly tools: Tools;
  readonly cancel: AbortSignal;
  readonly onBytes: OnBytes;
  readonly copySegments: CopySegments;
}

/** A copy of the ledger file as it is now, while others write to it. */
export async function backUpSqlite({
  path,
  folder,
  tools,
  cancel,
  onBytes,
  copySegments,
}: SqliteBackup): Promise<Manifest> {
  const source = new Database(path, { fileMustExist: true });
  const target = join(folder, FILE);
  try {
    // Inside a transaction that reads, every step copies of the same state; else each write of another would begin it anew.
    source.exec('BEGIN');
    const taken = { ledger_id: ledgerIdOf(source), schema: schemaOf(source), taken_at: isoOf(tools.now()) };
    const pageBytes = source.pragma('page_size', { simple: true }) as number;
    await source.backup(target, {
      progress: ({ totalPages, remainingPages }) => {
        if (cancel.aborted) throw refused('the backup was stopped and is incomplete');
        onBytes((totalPages - remainingPages) * pageBytes, totalPages * pageBytes);
        return PAGES_AT_ONCE;
      },
    });
    const { counts, sleepers } = await alone(target);
    const segments = await copySegments(sleepers);
    const manifest = await writeManifest(folder, { kind: 'sqlite', ...taken, file: FILE, segments, counts });
    source.exec('COMMIT');
    source.prepare(noteBackup('meta', '?')).run(notedOf(manifest));
    return manifest;
  } finally {
    source.close();
  }
}

/** Makes a copy one file that needs no others beside it. Answers with what is in it. */
async function alone(path: string): Promise<{ readonly counts: Counts; readonly sleepers: readonly string[] }> {
  const copy = new Database(path);
  try {
    copy.pragma('journal_mode = DELETE');
    return { counts: countsOf(copy), sleepers: sleepersOf(copy) };
  } finally {
    copy.close();
    await chmod(path, PRIVATE_FILE);
  }
}

interface SqliteRestore {
  readonly manifest: Manifest;
  readonly folder: string;
  /** Where the ledger goes. */
  readonly path: string;
  readonly force: boolean;
  readonly tools: Tools;
}

/** Puts a backup in the place of the ledger, under a new id. Nobody may have the ledger open. */
export async function restoreSqlite({ manifest, folder, path, force, tools }: SqliteRestore): Promise<RestoredLedger> {
  refuseUnknownBackup(manifest.schema, MIGRATIONS);
  await mkdir(dirname(path), { recursive: true });
  requireFree(path, force);
  const draft = `${path}.restoring`;
  await rm(draft, { force: true });
  await copyFile(join(folder, manifest.file), draft);
  const restored = prepare(draft, manifest, tools);
  await synced(draft);
  // The old file's write-ahead log must not be taken for one of the new file.
  for (const rest of ['-wal', '-shm']) await rm(`${path}${rest}`, { force: true });
  await rename(draft, path);
  await synced(dirname(path));
  return restored;
}

/**
 * What was restored is another past: an index that was made later must not be believed. With another id it is not, and is
 * made anew at the next start.
 */
function prepare(path: string, manifest: Manifest, tools: Tools): RestoredLedger {
  const copy = new Database(path);
  try {
    const check = copy.pragma('quick_check', { simple: true });
    if (check !== 'ok') throw refused(`the backup is damaged: ${String(check)}; take another one`);
    requireCounts(manifest, countsOf(copy));
    const ledgerId = tools.id('led');
    const set = copy.prepare('INSERT OR REPLACE INTO meta (key, value) VALUES (?, ?)');
    set.run('restored_from', ledgerIdOf(copy));
    set.run('restored_at', String(tools.now()));
    set.run('ledger_id', ledgerId);
    return { ledgerId, sleepers: sleepersOf(copy) };
  } finally {
    copy.close();
  }
}

const sleepersOf = (copy: Database.Database): readonly string[] =>
  copy
    .prepare<[], { name: string }>(sleepersIn())
    .all()
    .map(({ name }) => name);

/** Others who have the file open would go on with what is no longer there. */
function requireFree(path: string, force: boolean): void {
  const present = openIfThere(path);
  if (present === null) return;
  try {
    if (!force) throw taken(path);
    // Only whoever is alone with the file may leave the write-ahead log.
    present.pragma('journal_mode = DELETE');
  } catch (error) {
    if (!(error instanceof Database.SqliteError)) throw error;
    if (error.code.startsWith('SQLITE_BUSY')) throw inUse(path);
    if (!['SQLITE_NOTADB', 'SQLITE_CORRUPT'].includes(error.code)) throw error; // what is damaged may be replaced
  } finally {
    present.close();
  }
}

function openIfThere(path: string): Database.Database | null {
  try {
    return new Database(path, { fileMustExist: true, timeout: 0 });
  } catch {
    return null;
  }
}

const ledgerIdOf = (db: Database.Database): string =>
  String(db.prepare("SELECT value FROM meta WHERE key = 'ledger_id'").pluck().get());

const schemaOf = (db: Database.Database): number => db.pragma('user_version', { simple: true }) as number;

const countsOf = (db: Database.Database): Counts =>
  Object.fromEntries(COUNTED.map((table) => [table, db.prepare(countIn(table)).pluck().get()])) as Counts;

export function requireCounts(manifest: Manifest, got: Counts): void {
  const wrong = COUNTED.filter((table) => manifest.counts[table] !== got[table]);
  if (wrong.length === 0) return;
  const list = wrong.map((table) => `${manifest.counts[table]} ${table}, got ${got[table]}`).join('; ');
  throw refused(`the backup does not match its manifest: expected ${list}; use another one`);
}

const taken = (path: string) =>
  refused(`expected no ledger at ${path}, got one; back it up first, then replace it with --force`);

const inUse = (path: string) =>
  held(`the ledger ${path} is in use by another process; stop every server of Slowwave on this data, then restore`);
