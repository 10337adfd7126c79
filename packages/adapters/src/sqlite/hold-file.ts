import { existsSync } from 'node:fs';
import Database from 'better-sqlite3';

/** A file that this process holds. */
export interface HeldFile {
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
export function heldBy(path: string): number | null {
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
