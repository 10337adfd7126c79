import { EngineError, InvalidCursorError } from '@slowwave/engine/storing';
import { DatabaseError } from 'pg';

/** Classes and codes (SQLSTATE) that say the statement or its values were wrong, not the server. */
const MISTAKES = ['21', '22', '23', '42', '0A', '54'];
/** Codes that time does not mend: wrong password, no such database, no rights. */
const REFUSALS = ['28', '3D', '42501'];
/** Codes of a server's last words on a connection: somebody ended it, or the server stops. */
const GOODBYES = ['57P01', '57P02', '57P05', '25P03'];
const TOO_MANY_CONNECTIONS = '53300';
const FEWER_CONNECTIONS =
  'all processes together need more connections than max_connections allows: raise it, or lower ' +
  'SLOWWAVE_DATABASE_CONNECTIONS of each process (see docs/databases.md, "Connections to PostgreSQL")';
/** A deadlock, or a snapshot that was overtaken. */
const LOST_RACES = ['40001', '40P01'];

/** A row that was there a moment ago is another's by now: its owner was erased in between. */
export class LostRowError extends Error {}

/** Lost against another transaction: nothing was changed, and the same one may well succeed now. */
export const isLostRace = (thrown: unknown): boolean =>
  thrown instanceof LostRowError || (thrown instanceof DatabaseError && LOST_RACES.includes(thrown.code ?? ''));

/** Somebody else held what was to be locked, for longer than this one would wait. */
export const isLockTimeout = (thrown: unknown): boolean => thrown instanceof DatabaseError && thrown.code === '55P03';

/** The server does not let this user do it. */
export const isRefusal = (thrown: unknown): boolean => thrown instanceof DatabaseError && thrown.code === '42501';

/** The connection knows a statement from before a migration of another process; a new connection does not. */
const isStale = (thrown: unknown): boolean =>
  thrown instanceof DatabaseError && thrown.code === '0A000' && thrown.message.includes('cached plan');

/** The connection failed, so that nobody knows what became of the statement. */
class LostConnectionError extends Error {}

/** Nothing more can be asked over this connection. */
export const isBroken = (thrown: unknown): boolean =>
  thrown instanceof LostConnectionError ||
  isStale(thrown) ||
  (thrown instanceof DatabaseError && GOODBYES.includes(thrown.code ?? ''));

/** The client library's words when no answer came in time: another connection would only wait as long again. */
const SILENCE = 'Query read timeout';

/** The connection broke, and what was asked over it has changed nothing: another one may do it. */
export class UnusedConnectionError extends Error {
  constructor(cause: unknown) {
    super('the connection broke before anything was changed', { cause });
  }
}

/** The failure of something that changes nothing. */
export const ofNoChange = (thrown: unknown): unknown =>
  isBroken(thrown) && (thrown as Error).message !== SILENCE ? new UnusedConnectionError(thrown) : thrown;

/** What the server itself says keeps its code; the rest is a connection that failed. */
export const ofConnection = (thrown: unknown): Error =>
  thrown instanceof DatabaseError || thrown instanceof EngineError
    ? thrown
    : new LostConnectionError(reasonOf(thrown), { cause: thrown });

/** A database, and which of the stores it is. */
export interface DatabaseStore {
  /** Without a password. */
  readonly place: string;
  readonly holds: 'ledger' | 'index' | 'directory';
}

/** Anything thrown on the way to the database, as the engine knows it. */
export function asStoreError(thrown: unknown, store: DatabaseStore): Error {
  if (thrown instanceof EngineError || thrown instanceof InvalidCursorError) return thrown;
  if (thrown instanceof UnusedConnectionError) return asStoreError(thrown.cause, store);
  if (thrown instanceof DatabaseError) return ofCode(thrown, store);
  if (thrown instanceof LostConnectionError) return unavailable(store, thrown.message, thrown.cause);
  return new EngineError(reasonOf(thrown), { code: 'internal', retryable: false, cause: thrown });
}

export const asLedgerError = (thrown: unknown, place: string): Error =>
  asStoreError(thrown, { place, holds: 'ledger' });

/** A table or a schema that is not there. */
const MISSING = ['42P01', '3F000'];

function ofCode(error: DatabaseError, store: DatabaseStore): EngineError {
  const { place, holds } = store;
  const code = error.code ?? '';
  if (code === TOO_MANY_CONNECTIONS) return unavailable(store, `${error.message}; ${FEWER_CONNECTIONS}`, error);
  if (startsWithAny(code, REFUSALS)) {
    const text = `expected ${place} to accept the connection, got: ${error.message} (${code}); check DATABASE_URL and the privileges of its user`;
    return new EngineError(text, { code: codeOf(holds), retryable: false, cause: error });
  }
  if (holds === 'index' && MISSING.includes(code)) {
    const text = `the index at ${place} is missing: ${error.message}; restart the processes, which rebuild it from the ledger`;
    return new EngineError(text, { code: 'index_unavailable', retryable: true, cause: error });
  }
  if (startsWithAny(code, MISTAKES)) {
    const text = `the ${holds} refused a row: ${error.message} (${code})`;
    return new EngineError(text, { code: 'internal', retryable: false, cause: error });
  }
  return unavailable(store, `${error.message} (${code})`, error);
}

/** A directory of cells is a ledger of its own. */
const codeOf = (holds: DatabaseStore['holds']) => (holds === 'index' ? 'index_unavailable' : 'ledger_unavailable');

/** The server cannot be used right now; the same call may succeed later. */
function unavailable({ place, holds }: DatabaseStore, reason: string, cause: unknown): EngineError {
  const later = { code: codeOf(holds), retryable: true, countsAsTry: false, cause } as const;
  if (reason.includes('after calling end')) return new EngineError(`the ${holds} is closed`, later);
  return new EngineError(
    `expected the ${holds} at ${place} to answer, got: ${reason}; check that the server is running and can be reached from here`,
    later,
  );
}

/** A host with several addresses fails once for each, without words of its own. */
function reasonOf(thrown: unknown): string {
  if (thrown instanceof AggregateError) return [...new Set(thrown.errors.map(reasonOf))].join(', ');
  return thrown instanceof Error ? thrown.message : String(thrown);
}

const startsWithAny = (code: string, starts: readonly string[]): boolean =>
  starts.some((start) => code.startsWith(start));
