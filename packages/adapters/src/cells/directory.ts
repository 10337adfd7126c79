import { mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { EngineError, type Log, type Millis } from '@slowwave/engine';
import {
  type AskedMove,
  type Cell,
  type CellDirectory,
  type CellState,
  closedTo,
  type DirectoryChanges,
  firstRanges,
  type Handover,
  OWNER_MOVE_STATES,
} from '@slowwave/engine/cells';
import type { Pool } from 'pg';
import {
  type Access,
  all,
  allAs,
  counted,
  read,
  run,
  type Script,
  snapshot,
  storeOf,
  write,
} from '../ledger/script.ts';
import { transactionsOn } from '../postgres/ledger/access.ts';
import { COLUMN_TYPES } from '../postgres/ledger/asking.ts';
import { runScript as runOnPostgres } from '../postgres/ledger/script.ts';
import { inTransaction, openPool, placeOf } from '../postgres/pool.ts';
import { beginToWrite, closeWritten, connectToWrite, runScript, type Sql } from '../sqlite/ledger/sql.ts';
import { systemTools } from '../system/system.ts';
import { cells, directory, locked, raised, raisedLayout, ranges, saveRanges } from './layout.ts';
import {
  askHandovers,
  askMove,
  dropMove,
  handoverOf,
  keepMove,
  keptHandover,
  moveOf,
  SELECT_HANDOVERS,
  switchOwner,
  switchSlots,
  takeHandovers,
  takeMoves,
  vacate,
} from './moves.ts';
import {
  beginChange,
  endChange,
  grantShare,
  holdHome,
  leaveBehind,
  loseCell,
  raiseTenant,
  settleShare,
  sharesOf,
  switchHome,
  tenantOf,
  UPSERT_COPY,
} from './tenants.ts';

/** A directory of cells that is opened with the number of another schema is refused: it is small, and made anew in a moment. */
const SCHEMA = 1;
const SCHEMA_NAME = 'slowwave_cells';
/** Its transactions take a millisecond. */
const CONNECTIONS = 4;

/** The directory of cells: a SQLite file, or in a database if it is given a postgres URL. */
export const openDirectory = (where: string, log: Log): Promise<CellDirectory> =>
  /^postgres(?:ql)?:/.test(where) ? onPostgres(where, log) : onSqlite(where);

async function onSqlite(path: string): Promise<CellDirectory> {
  mkdirSync(dirname(path), { recursive: true });
  const sql = connectToWrite(path);
  migrateFile(sql);
  const transaction = <T>(script: Script<T>, begin: () => void): T => {
    begin();
    try {
      const result = runScript(sql, script);
      sql.run('COMMIT');
      return result;
    } catch (error) {
      if (sql.db.inTransaction) sql.run('ROLLBACK');
      throw error;
    }
  };
  // In this thread: it is small, and read in microseconds.
  const access: Access = {
    read: async ({ script }, input) => transaction(script(input), () => void sql.run('BEGIN')),
    write: async ({ script }, input) => transaction(script(input), () => beginToWrite(sql)),
  };
  return { ...directoryStore(access), now: async () => systemTools.now(), close: async () => closeWritten(sql) };
}

function migrateFile(sql: Sql): void {
  const make = sql.db.transaction(() => {
    const schema = sql.db.pragma('user_version', { simple: true });
    if (schema === SCHEMA) return;
    if (schema !== 0) throw foreign(sql.db.name, String(schema));
    sql.db.exec(DIRECTORY_SCHEMA_OF_SQLITE);
    sql.db.pragma(`user_version = ${SCHEMA}`);
  });
  make.exclusive();
}

async function onPostgres(url: string, log: Log): Promise<CellDirectory> {
  const place = placeOf(url);
  const pool = openPool({ url, schema: SCHEMA_NAME, max: CONNECTIONS, log, types: COLUMN_TYPES });
  try {
    await migrateDatabase(pool, place);
  } catch (error) {
    await pool.end();
    throw error;
  }
  const own = transactionsOn(pool, { place, holds: 'directory' });
  const access: Access = {
    read: ({ script, atOnce }, input) => (atOnce ? own.snapshot : own.read)((sql) => runOnPostgres(sql, script(input))),
    write: ({ script }, input) => own.write((sql) => runOnPostgres(sql, script(input))),
  };
  const now = async (): Promise<Millis> => Number((await pool.query(SELECT_NOW)).rows[0]?.now);
  return { ...directoryStore(access), now, close: () => pool.end() };
}

const SELECT_NOW = 'SELECT floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint AS now';

/** The time of a directory, read once and counted on from there: no clock of this host moves it. */
export async function clockOf(directory: Pick<CellDirectory, 'now'>): Promise<() => Millis> {
  const behind = (await directory.now()) - performance.now();
  return () => Math.round(behind + performance.now());
}

/** The lock under which one process at a time makes the tables: a number that only has to differ from other programs'. */
const SCHEMA_LOCK = 1_402_718_296;

async function migrateDatabase(pool: Pool, place: string): Promise<void> {
  const client = await pool.connect();
  const making = inTransaction(client, async () => {
    await client.query(`SELECT pg_advisory_xact_lock(${SCHEMA_LOCK})`);
    const made = await client.query(`SELECT to_regclass('${SCHEMA_NAME}.made_with') IS NOT NULL AS made`);
    if (made.rows[0]?.made === 1) {
      const { rows } = await client.query('SELECT schema FROM made_with');
      if (rows[0]?.schema !== SCHEMA) throw foreign(place, String(rows[0]?.schema));
    } else {
      await client.query(`CREATE SCHEMA IF NOT EXISTS ${SCHEMA_NAME}`);
      await client.query(DIRECTORY_SCHEMA);
      await client.query(`CREATE TABLE made_with (schema bigint NOT NULL); INSERT INTO made_with VALUES (${SCHEMA})`);
    }
  });
  await making.finally(() => client.release());
}

const foreign = (where: string, schema: string): EngineError =>
  new EngineError(
    `expected a directory of cells with schema ${SCHEMA} in ${where}, got ${schema}; use the release that created it, or another location`,
    { code: 'ledger_unavailable', retryable: false },
  );

/** The directory without what opens and closes it, and its clock. */
type DirectoryStore = Omit<CellDirectory, 'close' | 'now'>;

const directoryStore = storeOf<DirectoryStore>('directory', {
  changes: snapshot(changes),
  addCell: write(addCell),
  changeCell: write(changeCell),
  removeCell: write(removeCell),
  loseCell: write(loseCell),
  leaveBehind: write(leaveBehind),
  askMoves: write(function* (asked: readonly AskedMove[]) {
    yield* locked();
    let count = 0;
    for (const one of asked) count += (yield* askMove(one)) ? 1 : 0;
    return count;
  }),
  takeMoves: write(takeMoves),
  keepMove: write(keepMove),
  switchOwner: write(switchOwner),
  dropMove: write(dropMove),
  vacate: write(vacate),
  moves: snapshot(function* (limit: number) {
    const rows = yield* all<{ state: string; count: number }>(
      'SELECT state, count(*) AS count FROM moves GROUP BY state',
    );
    const counts = OWNER_MOVE_STATES.map((state) => [state, rows.find((row) => row.state === state)?.count ?? 0]);
    const oldest = yield* allAs(moveOf, 'SELECT * FROM moves ORDER BY id LIMIT @limit', { limit });
    return { counts: Object.fromEntries(counts), oldest };
  }),
  askHandovers: write(askHandovers),
  takeHandovers: write(takeHandovers),
  keepHandover: write(function* (handover: Handover, leasedUntil: Millis) {
    yield* raised();
    return yield* keptHandover(handover, leasedUntil);
  }),
  endHandover: write(function* ({ id, attempt }: Handover) {
    yield* raised();
    return (yield* run('DELETE FROM handovers WHERE id = @id AND attempt = @attempt', { id, attempt })) > 0;
  }),
  handovers: read(() => allAs(handoverOf, SELECT_HANDOVERS)),
  slotsOf: snapshot(function* (cell: string) {
    const { epoch } = yield* directory();
    return { epoch, closed: closedTo(cell, yield* ranges(), yield* allAs(handoverOf, SELECT_HANDOVERS)) };
  }),
  switchSlots: write(switchSlots),
  unmovedOf: read(({ from, to }, source) => counted(COUNT_UNMOVED, { from, to, source })),
  raiseTenant: write((tenant) => raiseTenant(tenant, null)),
  beginChange: write(beginChange),
  endChange: write(endChange),
  holdHome: write(holdHome),
  switchHome: write(switchHome),
  tenants: read(() => allAs(tenantOf, 'SELECT * FROM tenants ORDER BY tenant')),
  copiesOf: read((tenant) => all('SELECT cell, epoch FROM copies WHERE tenant = @tenant', { tenant })),
  keepCopy: write(function* (tenant, { cell, epoch }) {
    yield* run(UPSERT_COPY, { tenant, cell, epoch });
  }),
  sharesOf: snapshot(sharesOf),
  grantShare: write(grantShare),
  settleShare: write(settleShare),
});

const COUNT_UNMOVED = `
  SELECT count(*) AS count FROM moves
  WHERE source = @source AND slot BETWEEN @from AND @to AND state <> 'given_up'`;

function* changes(after: number): Script<DirectoryChanges> {
  const { epoch, layout_epoch } = yield* directory();
  const isNew = layout_epoch > after;
  return {
    epoch,
    cells: isNew ? yield* cells() : null,
    ranges: isNew ? yield* ranges() : null,
    exceptions: yield* allAs(
      ({ owner_key, cell }: { owner_key: string; cell: string | null }) => ({ key: owner_key, cell }),
      'SELECT owner_key, cell FROM exceptions WHERE epoch > @after',
      { after },
    ),
    tenants: yield* allAs(tenantOf, 'SELECT * FROM tenants WHERE changed_at > @after', { after }),
  };
}

function* addCell({ name, url }: Pick<Cell, 'name' | 'url'>): Script<boolean> {
  yield* locked();
  const known = yield* cells();
  if (known.some((cell) => cell.name === name)) return false;
  yield* raisedLayout();
  const { epoch } = yield* directory();
  yield* run("INSERT INTO cells (name, url, state, added) VALUES (@name, @url, 'open', @epoch)", { name, url, epoch });
  if (known.length === 0) yield* saveRanges(firstRanges(name));
  return true;
}

function* changeCell(name: string, change: { url?: string; state?: CellState }): Script<boolean> {
  yield* locked();
  const known = (yield* cells()).find((cell) => cell.name === name);
  if (known === undefined) return false;
  const { url, state } = { ...known, ...change };
  yield* raisedLayout();
  yield* run('UPDATE cells SET url = @url, state = @state WHERE name = @name', { name, url, state });
  return true;
}

/** What leads to a cell. */
const LEADS: Readonly<Record<string, string>> = {
  slots: 'SELECT count(*) AS count FROM slot_ranges WHERE cell = @name',
  owners: 'SELECT count(*) AS count FROM exceptions WHERE cell = @name',
  tenants: 'SELECT count(*) AS count FROM tenants WHERE home = @name',
  moves: "SELECT count(*) AS count FROM moves WHERE destination = @name AND state <> 'given_up'",
};

function* removeCell(name: string): Script<readonly string[]> {
  yield* locked();
  const leads: string[] = [];
  for (const [what, text] of Object.entries(LEADS)) if ((yield* counted(text, { name })) > 0) leads.push(what);
  if (leads.length > 0) return leads;
  yield* raisedLayout();
  yield* run('DELETE FROM cells WHERE name = @name', { name });
  yield* run('DELETE FROM copies WHERE cell = @name', { name });
  yield* run('DELETE FROM shares WHERE cell = @name', { name });
  return [];
}

/**
 * The directory of cells, for both dialects. Ids of owners stand in the rows of moves alone, and only until these are over: exceptions
 * have keys, which are hashes.
 */
const DIRECTORY_SCHEMA = `
CREATE TABLE directory (one bigint PRIMARY KEY, epoch bigint NOT NULL, layout_epoch bigint NOT NULL);
INSERT INTO directory (one, epoch, layout_epoch) VALUES (1, 0, 0);

CREATE TABLE cells (name text PRIMARY KEY, url text NOT NULL, state text NOT NULL, added bigint NOT NULL);

CREATE TABLE slot_ranges (first_slot bigint PRIMARY KEY, last_slot bigint NOT NULL, cell text NOT NULL);

CREATE TABLE exceptions (owner_key text PRIMARY KEY, slot bigint NOT NULL, cell text, epoch bigint NOT NULL);
CREATE INDEX exceptions_by_epoch ON exceptions (epoch);
CREATE INDEX exceptions_by_slot ON exceptions (slot);

CREATE TABLE moves (
  id text PRIMARY KEY,
  tenant text NOT NULL,
  owner_kind text NOT NULL,
  owner_id text NOT NULL,
  owner_key text NOT NULL UNIQUE,
  slot bigint NOT NULL,
  source text NOT NULL,
  destination text NOT NULL,
  epoch bigint NOT NULL,
  attempt bigint NOT NULL,
  state text NOT NULL,
  import_id text,
  stamp text,
  tries bigint NOT NULL,
  why text,
  due_at bigint NOT NULL,
  leased_until bigint NOT NULL
);
CREATE INDEX moves_due ON moves (due_at);
CREATE INDEX moves_by_source ON moves (source, slot);

CREATE TABLE handovers (
  id text PRIMARY KEY,
  first_slot bigint NOT NULL,
  last_slot bigint NOT NULL,
  source text NOT NULL,
  destination text NOT NULL,
  attempt bigint NOT NULL,
  state text NOT NULL,
  tries bigint NOT NULL,
  why text,
  due_at bigint NOT NULL,
  leased_until bigint NOT NULL
);

CREATE TABLE tenants (
  tenant text PRIMARY KEY, home text NOT NULL, epoch bigint NOT NULL, changed_at bigint NOT NULL,
  -- Nothing of it may be changed until then: its home is on its way.
  held_until bigint NOT NULL DEFAULT 0
);

-- Changes of what tenants have in common that are under way.
CREATE TABLE changes (id text PRIMARY KEY, tenant text NOT NULL, until bigint NOT NULL);
CREATE INDEX changes_of_tenant ON changes (tenant);

-- The epoch that a cell has of a tenant's copy.
CREATE TABLE copies (tenant text NOT NULL, cell text NOT NULL, epoch bigint NOT NULL, PRIMARY KEY (tenant, cell));

-- What a cell may use of a tenant's day, at most.
CREATE TABLE shares (
  tenant text NOT NULL, cell text NOT NULL, epoch bigint NOT NULL, part double precision NOT NULL, until bigint,
  PRIMARY KEY (tenant, cell)
);
`;

/** SQLite has no widths of numbers, and is as strict as PostgreSQL if it is told to. */
const DIRECTORY_SCHEMA_OF_SQLITE = DIRECTORY_SCHEMA.replace(/\bbigint\b/g, 'INTEGER')
  .replace(/\bdouble precision\b/g, 'REAL')
  .replace(/(CREATE TABLE [^;]*\));/g, '$1 STRICT;');
