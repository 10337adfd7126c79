import { statSync } from 'node:fs';
import type { Compaction } from '@slowwave/engine';
import { EngineError, InvalidCursorError } from '@slowwave/engine/storing';
import Database from 'better-sqlite3';
import type { Sql } from './ledger/sql.ts';

/**
 * Makes a check that a path still leads to the file it leads to now. Whoever has a file open can go on writing to it after it
 * was removed, with its folder or for another one: nothing would say that, and a restart would find none of it.
 */
export function sameFile(path: string): () => void {
  const opened = idOf(path);
  return () => {
    const now = idOf(path);
    if (opened === null || now === opened) return;
    const what = now === null ? 'was removed' : 'was replaced by another file';
    throw new EngineError(
      `the ledger file ${path} ${what} while this process had it open: new data is refused, because it would be lost. ` +
        'Stop the process, put the data folder back (or restore a backup: slowwave restore), and start again',
      { code: 'ledger_unavailable', retryable: true, countsAsTry: false },
    );
  };
}

/** The file behind a path, whatever it is called; null: there is none. Takes microseconds. */
function idOf(path: string): string | null {
  const stat = statSync(path, { bigint: true, throwIfNoEntry: false });
  return stat === undefined ? null : `${stat.dev}:${stat.ino}`;
}

/**
 * Above this a file is not rewritten at once: nobody else can write to it meanwhile, and 100 MB take two seconds on a
 * busy machine, where others give up after five.
 */
const REWRITE_MAX_BYTES = 100 * 2 ** 20;
/** Others' transactions last milliseconds; who takes longer is a backup, and is waited for by asking again. */
const PATIENCE_MS = 250;

/**
 * Overwrites what deleted rows left behind: parts of them stay where pages were split and joined, even though deleted
 * cells are zeroed, so that the file is written anew; then the log, which has them all, is emptied.
 */
export function compactFile(sql: Sql, { busyMs }: { busyMs: number }): Compaction {
  sql.db.pragma(`busy_timeout = ${PATIENCE_MS}`);
  try {
    // First: a log that others still read from must not grow by a whole file with every try.
    if (!emptyLog(sql)) return { done: false, remains: [] };
    const tooLarge = statSync(sql.db.name).size > REWRITE_MAX_BYTES;
    if (!tooLarge) sql.db.exec('VACUUM');
    return { done: emptyLog(sql), remains: tooLarge ? [leftIn(sql.db.name)] : [] };
  } catch (error) {
    if (isBusy(error)) return { done: false, remains: [] };
    throw error;
  } finally {
    sql.db.pragma(`busy_timeout = ${busyMs}`);
  }
}

function emptyLog(sql: Sql): boolean {
  const [result] = sql.db.pragma('wal_checkpoint(TRUNCATE)') as { busy: number }[];
  return result?.busy === 0;
}

const isBusy = (error: unknown): boolean =>
  error instanceof Database.SqliteError && (error.code.startsWith('SQLITE_BUSY') || error.code === 'SQLITE_LOCKED');

const leftIn = (path: string): string =>
  `${path.split('/').at(-1)}: parts of pages that were split before their rows were deleted, until it is rewritten with VACUUM`;

/** Result codes of a file that time does not mend. */
const BROKEN = ['SQLITE_CORRUPT', 'SQLITE_NOTADB', 'SQLITE_READONLY', 'SQLITE_PERM', 'SQLITE_AUTH'];
/** Result codes that say the statement or its values were wrong, not the file. */
const MISTAKES = ['SQLITE_CONSTRAINT', 'SQLITE_ERROR', 'SQLITE_MISMATCH', 'SQLITE_MISUSE', 'SQLITE_RANGE'];

/** Anything thrown by SQLite, as the engine knows it. */
export function asLedgerError(thrown: unknown): Error {
  if (thrown instanceof EngineError || thrown instanceof InvalidCursorError) return thrown;
  const message = thrown instanceof Error ? thrown.message : String(thrown);
  if (thrown instanceof Database.SqliteError) return ofCode(thrown.code, message, thrown);
  if (message.includes('connection is not open')) return unavailable('the ledger is closed', thrown);
  return new EngineError(message, { code: 'internal', retryable: false, cause: thrown });
}

/** The ledger cannot be used right now; the same call may succeed later. */
export function unavailable(message: string, cause: unknown): EngineError {
  return new EngineError(message, { code: 'ledger_unavailable', retryable: true, countsAsTry: false, cause });
}

function ofCode(code: string, message: string, cause: unknown): EngineError {
  if (isMistake(code)) {
    return new EngineError(`the ledger refused a row: ${message}`, { code: 'internal', retryable: false, cause });
  }
  if (startsWithAny(code, BROKEN)) {
    const text = `the ledger file cannot be used (${code}): ${message}; check the file and its permissions`;
    return new EngineError(text, { code: 'ledger_unavailable', retryable: false, cause });
  }
  return unavailable(`the ledger cannot be read or written now (${code}): ${message}`, cause);
}

export const isMistake = (code: string): boolean => startsWithAny(code, MISTAKES);

export const startsWithAny = (code: string, starts: readonly string[]): boolean =>
  starts.some((start) => code.startsWith(start));
