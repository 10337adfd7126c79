import { EngineError } from '@slowwave/engine/storing';
import Database from 'better-sqlite3';

/** Result codes of a file that only a new one replaces. */
const BROKEN = ['SQLITE_CORRUPT', 'SQLITE_NOTADB'];
/** Result codes that say the statement or its values were wrong, not the file. */
const MISTAKES = ['SQLITE_CONSTRAINT', 'SQLITE_ERROR', 'SQLITE_MISMATCH', 'SQLITE_MISUSE', 'SQLITE_RANGE'];

/** Anything thrown in a thread of the index, as the engine knows it. */
export function asIndexError(thrown: unknown, path: string): EngineError {
  if (thrown instanceof EngineError) return thrown;
  const message = thrown instanceof Error ? thrown.message : String(thrown);
  const code = thrown instanceof Database.SqliteError ? thrown.code : null;
  if (code === null || startsWithAny(code, MISTAKES)) {
    return new EngineError(`the index failed: ${message}`, { code: 'internal', retryable: false, cause: thrown });
  }
  if (startsWithAny(code, BROKEN)) return unusable(`the index file ${path} is damaged (${code}: ${message})`);
  return new EngineError(`the index ${path} cannot be read or written now (${code}): ${message}`, {
    code: 'index_unavailable',
    retryable: true,
    cause: thrown,
  });
}

/** A file that has to be made anew before anything works again. */
export function unusable(problem: string): EngineError {
  return new EngineError(`${problem}; stop all processes and delete it: it is rebuilt from the ledger`, {
    code: 'index_unavailable',
    retryable: false,
  });
}

const startsWithAny = (code: string, starts: readonly string[]): boolean =>
  starts.some((start) => code.startsWith(start));
