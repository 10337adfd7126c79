import { EngineError, InvalidCursorError } from '@slowwave/engine/storing';
import Database from 'better-sqlite3';

/** Result codes of a file that time does not mend. */
const BROKEN = ['SQLITE_CORRUPT', 'SQLITE_NOTADB', 'SQLITE_READONLY', 'SQLITE_PERM', 'SQLITE_AUTH'];
/** Result codes that say the statement was wrong, not the file. */
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
  if (startsWithAny(code, MISTAKES)) {
    return new EngineError(`the ledger refused a row: ${message}`, { code: 'internal', retryable: false, cause });
  }
  if (startsWithAny(code, BROKEN)) {
    const text = `the ledger file cannot be used (${code}): ${message}; check the file and its permissions`;
    return new EngineError(text, { code: 'ledger_unavailable', retryable: false, cause });
  }
  return unavailable(`the ledger cannot be read or written now (${code}): ${message}`, cause);
}

const startsWithAny = (code: string, starts: readonly string[]): boolean =>
  starts.some((start) => code.startsWith(start));
