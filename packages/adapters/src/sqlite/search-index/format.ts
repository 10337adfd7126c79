import type { IndexMarker, IndexPoint } from '@slowwave/engine';
import { EngineError, SHELVES } from '@slowwave/engine/storing';
import Database from 'better-sqlite3';
import { isMistake, startsWithAny } from '../file.ts';
import type { Sql } from '../ledger/sql.ts';
import { type IndexSpace, spaceText } from './protocol.ts';
import { termKey } from './record.ts';
import { createTables, discardTables, IN_USE, type PointTables, shelfNumber } from './tables.ts';

/** Goes up with every change of the tables below. There are no migrations: an index is rebuilt from the ledger. */
const FORMAT = 11;
/** "SWix" in the file's header: a ledger or a foreign file given by mistake is not touched. */
const APPLICATION = 0x53_57_69_78;

/**
 * Makes a new file an index, and refuses what is not one. An index of an older format becomes an empty one, which is
 * filled from the ledger. Safe when several processes open it at once.
 */
export function prepareFile(sql: Sql, space: IndexSpace): void {
  const prepare = sql.db.transaction(() => {
    if (isEmpty(sql)) create(sql, space);
    refuseForeign(sql);
    if (formatOf(sql) < FORMAT) renew(sql, space);
  });
  prepare.immediate();
}

export const isOfSpace = (sql: Sql, space: IndexSpace): boolean => metaOf(sql, 'space') === spaceText(space);

/** Vectors and terms of two spaces are never mixed or compared. */
export function requireSpace(sql: Sql, space: IndexSpace): void {
  if (isOfSpace(sql, space)) return;
  throw new EngineError(
    `expected the index ${sql.db.name} to be for ${spaceText(space)}, got one for ${metaOf(sql, 'space')}; ` +
      'it must be rebuilt from the ledger, which a restart with these settings does',
    { code: 'index_unavailable', retryable: true },
  );
}

type MetaKey = 'space' | 'marker' | 'rebuild';

/** How a life of an owner is named in the file: whoever comes by the same id after an erasure has another lane. */
export function ownerKey({ tenant, owner, lane }: Pick<IndexPoint, 'tenant' | 'owner' | 'lane'>) {
  const key = { tenant, kind: owner.kind, id: JSON.stringify(owner.id), lane };
  const { low, high } = termKey(JSON.stringify(key));
  return { ...key, hash: low + (high >>> 16) * 2 ** 32 };
}

/** The row of an owner named like this. */
export const OWNER_NAMED = 'tenant = @tenant AND hash = @hash AND kind = @kind AND id = @id AND lane = @lane';

/** A shelf of an owner, and its row. */
export const shelfKey = (of: Pick<IndexPoint, 'tenant' | 'owner' | 'lane' | 'shelf'>) => ({
  ...ownerKey(of),
  place: shelfNumber(0, of.shelf),
});
export const selectShelf = ({ owners, shelves }: PointTables): string => `
  SELECT s.number, s.changes, s.slots, s.points FROM ${owners} o JOIN ${shelves} s ON s.number = ${SHELVES.length} * o.number + @place
  WHERE ${OWNER_NAMED}`;

export function markerOf(sql: Sql): IndexMarker | null {
  const text = metaOf(sql, 'marker');
  return text === null ? null : (JSON.parse(text) as IndexMarker);
}

/** The marker of an index of another space: never null, for it is not empty, and never one that anybody believes. */
export function foreignMarker(sql: Sql): IndexMarker {
  return { ledgerId: markerOf(sql)?.ledgerId ?? 'unknown', fingerprint: `${metaOf(sql, 'space')}` };
}

export function setMeta(sql: Sql, key: MetaKey, value: string): void {
  sql.run('INSERT OR REPLACE INTO meta (key, value) VALUES (@key, @value)', { key, value });
}

export const metaOf = (sql: Sql, key: MetaKey): string | null =>
  sql.get<{ value: string }>('SELECT value FROM meta WHERE key = @key', { key })?.value ?? null;

const isEmpty = (sql: Sql): boolean => sql.get('SELECT 1 FROM sqlite_schema LIMIT 1') === null;

function create(sql: Sql, space: IndexSpace): void {
  sql.db.exec('CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT');
  sql.db.pragma(`application_id = ${APPLICATION}`);
  furnish(sql, space);
}

/** An empty index of this space, without a marker: nobody believes it until it is filled. Its old tables are left. */
export function renew(sql: Sql, space: IndexSpace): void {
  discardTables(sql);
  sql.run('DELETE FROM meta');
  furnish(sql, space);
}

function furnish(sql: Sql, space: IndexSpace): void {
  createTables(sql, IN_USE);
  sql.db.pragma(`user_version = ${FORMAT}`);
  setMeta(sql, 'space', spaceText(space));
}

const formatOf = (sql: Sql): number => sql.db.pragma('user_version', { simple: true }) as number;

function refuseForeign(sql: Sql): void {
  if (sql.db.pragma('application_id', { simple: true }) !== APPLICATION) {
    throw new EngineError(`expected ${sql.db.name} to be a search index, got another kind of file; use another path`, {
      code: 'index_unavailable',
      retryable: false,
    });
  }
  const format = formatOf(sql);
  if (format <= FORMAT) return;
  throw unusable(
    `the index file ${sql.db.name} has format ${format}, but this release only supports formats up to ${FORMAT}`,
  );
}

/** Result codes of a file that only a new one replaces. */
const BROKEN = ['SQLITE_CORRUPT', 'SQLITE_NOTADB'];

/** Anything thrown in a thread of the index, as the engine knows it. */
export function asIndexError(thrown: unknown, path: string): EngineError {
  if (thrown instanceof EngineError) return thrown;
  const message = thrown instanceof Error ? thrown.message : String(thrown);
  const code = thrown instanceof Database.SqliteError ? thrown.code : null;
  if (code === null || isMistake(code)) {
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
function unusable(problem: string): EngineError {
  return new EngineError(`${problem}; stop all processes and delete it: it is rebuilt from the ledger`, {
    code: 'index_unavailable',
    retryable: false,
  });
}
