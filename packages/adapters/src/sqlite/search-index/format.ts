import { EngineError, type IndexMarker, type IndexPoint, TERMS_VERSION } from '@slowwave/engine';
import type { Sql } from '../ledger/sql.ts';
import { unusable } from './errors.ts';
import type { IndexSpace } from './protocol.ts';

/** Goes up with every change of the tables below. There are no migrations: an index is rebuilt from the ledger. */
const FORMAT = 2;
/** "SWix" in the file's header: a ledger or a foreign file given by mistake is not touched. */
const APPLICATION = 0x53_57_69_78;

/** `live` of a point that was withdrawn: its row keeps its slot and its revision, and nothing of what it said. */
export const WITHDRAWN = 2;

/** Versions one owner may have: the low part of a row id, so that an owner's rows lie side by side. */
export const SLOTS = 2 ** 24;

/** Where points and their owners are: those in use, those in the making, and those to be thrown away. */
export interface PointTables {
  readonly owners: string;
  readonly points: string;
}

export const IN_USE: PointTables = { owners: 'owners', points: 'points' };
export const NEXT: PointTables = { owners: 'owners_next', points: 'points_next' };
export const OLD: PointTables = { owners: 'owners_old', points: 'points_old' };

/**
 * owners           one for each shelf: what is on one neither counts nor is read where the other is asked
 * owners.id       as JSON: half characters in an id would else become one and the same replacement character
 * owners.changes  grows with every write to the owner's points: who has read up to it has read everything
 * owners.points   how many there are, withdrawn ones included; they have the slots 0 … points − 1
 * points.live     1 what holds, 0 what once held, 2 withdrawn
 * points.change   the owner's count when the point was last written
 * points.vector   32-bit floats, little end first; last, because long ones lie on pages of their own
 */
const tablesFor = ({ owners, points }: PointTables, byChange: string): string => `
CREATE TABLE ${owners} (
  number INTEGER PRIMARY KEY AUTOINCREMENT,
  tenant TEXT NOT NULL,
  kind TEXT NOT NULL,
  id TEXT NOT NULL,
  shelf TEXT NOT NULL,
  changes INTEGER NOT NULL,
  points INTEGER NOT NULL,
  UNIQUE (tenant, kind, id, shelf)
) STRICT;
CREATE TABLE ${points} (
  row INTEGER PRIMARY KEY CHECK (row / ${SLOTS} = owner),
  owner INTEGER NOT NULL,
  change INTEGER NOT NULL,
  memory_id TEXT NOT NULL,
  version INTEGER NOT NULL,
  revision INTEGER NOT NULL,
  live INTEGER NOT NULL,
  said_at INTEGER NOT NULL,
  said_seq INTEGER NOT NULL,
  valid_from INTEGER NOT NULL,
  invalid_at INTEGER,
  expires_at INTEGER,
  deleted_at INTEGER,
  deleted_seq INTEGER,
  scope TEXT NOT NULL,
  terms TEXT NOT NULL,
  context_terms TEXT NOT NULL,
  payload TEXT NOT NULL,
  vector BLOB NOT NULL,
  UNIQUE (owner, memory_id, version)
) STRICT;
CREATE INDEX ${byChange} ON ${points} (owner, change);
CREATE INDEX ${byChange}_withdrawn ON ${points} (owner) WHERE live = ${WITHDRAWN};
`;

/** An index of a table goes with it when it is renamed, under its old name: a new table's needs another one. */
const BY_CHANGE = ['points_by_change', 'points_by_change_b', 'points_by_change_c'] as const;

export function createTables(sql: Sql, tables: PointTables): void {
  const free = BY_CHANGE.find((name) => !isThere(sql, name));
  sql.db.exec(tablesFor(tables, free ?? BY_CHANGE[0]));
}

export const isThere = (sql: Sql, name: string): boolean =>
  sql.get('SELECT 1 FROM sqlite_schema WHERE name = @name', { name }) !== null;

/** How the tables of an older format are named from the moment on when nobody can read them any more. */
export const DISCARDED = 'discarded_';

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

/** The space the points were written for, as one text; equal texts are the same space. */
export const spaceText = ({ dimensions, fingerprint }: IndexSpace): string =>
  JSON.stringify({ dimensions, fingerprint, terms: TERMS_VERSION });

export const isOfSpace = (sql: Sql, space: IndexSpace): boolean => metaOf(sql, 'space') === spaceText(space);

/** Vectors and terms of two spaces are never mixed or compared. */
export function requireSpace(sql: Sql, space: IndexSpace): void {
  if (isOfSpace(sql, space)) return;
  throw new EngineError(
    `expected the index ${sql.db.name} to be of ${spaceText(space)}, got one of ${metaOf(sql, 'space')}; ` +
      'it must be cleared and rebuilt from the ledger, which a start with these settings does',
    { code: 'index_unavailable', retryable: true },
  );
}

type MetaKey = 'space' | 'marker' | 'rebuild';

/** How an owner is named in the file. */
export const ownerKey = ({ tenant, owner, shelf }: Pick<IndexPoint, 'tenant' | 'owner' | 'shelf'>) => ({
  tenant,
  kind: owner.kind,
  id: JSON.stringify(owner.id),
  shelf,
});

/** The row of an owner named like this. */
export const OWNER_NAMED = 'tenant = @tenant AND kind = @kind AND id = @id AND shelf = @shelf';

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

/** Without a marker: nobody believes it until it is filled. Its old tables are thrown away in slices. */
function renew(sql: Sql, space: IndexSpace): void {
  const tables = sql.all<{ name: string }>("SELECT name FROM sqlite_schema WHERE type = 'table'");
  for (const { name } of tables) {
    if (name === 'meta' || name.startsWith('sqlite_')) continue;
    sql.db.exec(`ALTER TABLE ${name} RENAME TO ${DISCARDED}${formatOf(sql)}_${name}`);
  }
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
    throw new EngineError(`expected ${sql.db.name} to be a search index, got another kind of file; give another path`, {
      code: 'index_unavailable',
      retryable: false,
    });
  }
  const format = formatOf(sql);
  if (format <= FORMAT) return;
  throw unusable(`the index file ${sql.db.name} has format ${format}, this release knows only up to format ${FORMAT}`);
}
