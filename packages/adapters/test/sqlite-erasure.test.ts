import { join } from 'node:path';
import { describeErasedAndBack, ERASED_AND_BACK_SPACE, type ErasedAndBackStores } from '@slowwave/engine-testing';
import { type TempDir, tempDir } from '@slowwave/testkit';
import Database from 'better-sqlite3';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { ERASING } from '../src/ledger/erasures.ts';
import { unpackedRecord } from '../src/ledger/rows/packed-record.ts';
import { columnsOf } from '../src/ledger/schema.ts';
import { unpacked } from '../src/packed.ts';
import { openSqliteIndex, openSqliteLedger } from '../src/sqlite/index.ts';
import { systemTools } from '../src/system/system.ts';
import {
  eraseForgotten,
  eraseMarked,
  filesWithMarker,
  forgottenLife,
  goOn,
  isMarked,
  KEPT,
  relationsOfAnn,
  subjectsInTrail,
  twoLives,
} from './erased-life.ts';

const SPACE = { dimensions: 64, fingerprint: 'fake-64' };
/** Posts of each of the two users: so many that they fill pages of the files, or some. */
const MANY = 40;
const SOME = 20;

describe('erased and back at once, in SQLite files', () => {
  let folder: TempDir;
  let stores: ErasedAndBackStores;

  beforeAll(async () => {
    folder = await tempDir();
    const ledger = await openSqliteLedger({ path: join(folder.path, 'ledger.db'), tools: systemTools });
    stores = {
      ledger,
      index: await openSqliteIndex({ path: join(folder.path, 'index.db'), ...ERASED_AND_BACK_SPACE }),
    };
  });
  afterAll(async () => {
    await stores.ledger.close();
    await stores.index.close();
    await folder.remove();
  });

  describeErasedAndBack(() => stores, { everyNth: 3 });
});

/** The packed columns of the ledger that have the marker: in its files nobody sees what is in them. */
function packedWithMarker(folder: string): string[] {
  const db = new Database(join(folder, 'ledger.db'), { readonly: true });
  const tables = db.prepare<[], string>("SELECT name FROM sqlite_schema WHERE type = 'table'").pluck().all();
  const columns = tables.flatMap((table) =>
    columnsOf(table).flatMap(({ name, type }) => (type.startsWith('packed_') ? [{ table, name, type }] : [])),
  );
  const marked = columns.filter(({ table, name, type }) => {
    const id = type === 'packed_record' ? 'id' : "''";
    const rows = db
      .prepare<[], { id: string; bytes: Buffer }>(
        `SELECT ${id} AS id, ${name} AS bytes FROM ${table} WHERE ${name} IS NOT NULL`,
      )
      .all();
    const textOf = (row: (typeof rows)[number]): string =>
      type === 'packed_record' ? JSON.stringify(unpackedRecord(row.bytes, row.id)) : unpacked(row.bytes);
    return rows.some((row) => isMarked(Buffer.from(textOf(row))));
  });
  db.close();
  return marked.map(({ table, name }) => `${table}.${name}`).sort();
}

describe('an erasure in SQLite files', () => {
  let folder: TempDir;
  const closing: { close(): Promise<void> }[] = [];

  beforeEach(async () => {
    folder = await tempDir();
  });
  afterEach(async () => {
    for (const one of closing.splice(0)) await one.close();
    await folder.remove();
  });

  const stores = async () => {
    const ledger = await openSqliteLedger({ path: join(folder.path, 'ledger.db'), tools: systemTools });
    const index = await openSqliteIndex({ path: join(folder.path, 'index.db'), ...SPACE });
    closing.push(ledger, index);
    return { ledger, index };
  };
  const open = async (posts = MANY) => twoLives(await stores(), { posts });

  it('leaves no byte of what was forgotten for too long, and all else', async () => {
    const bench = await forgottenLife(await stores());
    expect(await filesWithMarker(folder.path)).toContain('ledger.db-wal');
    const before = await bench.live();
    expect(before).toContain('pet: cat');
    expect(packedWithMarker(folder.path)).toContain('consolidations.thought');
    await eraseForgotten(bench);
    expect(await filesWithMarker(folder.path)).toEqual([]);
    expect(packedWithMarker(folder.path)).toEqual([]);
    expect(await bench.live()).toEqual(before);
    expect(await relationsOfAnn(bench)).toEqual(['Ann likes tea']);
  });

  it('leaves no byte of the user in any file, and everything of others', async () => {
    const bench = await open();
    const before = await bench.live('bob');
    expect(await filesWithMarker(folder.path)).toEqual(expect.arrayContaining(['index.db-wal', 'ledger.db-wal']));
    expect(packedWithMarker(folder.path)).toEqual(expect.arrayContaining(['consolidations.thought']));
    // All but those that the five deleted memories rest on: two each, of which one was too long to be a fact.
    expect(await bench.deps.index.count('default' as never, 'messages')).toBe(80 - 9);
    const over = await eraseMarked(bench);
    expect(over).toMatchObject({ state: 'erased', remains: [], counts: { batches: 41, messages: 41 } });
    expect(await filesWithMarker(folder.path)).toEqual([]);
    expect(packedWithMarker(folder.path)).toEqual([]);
    expect(await bench.live('bob')).toEqual(before);
    expect(await subjectsInTrail(bench)).toEqual({ erasure: 200, user: 200 });
    expect(await bench.deps.index.count('default' as never, 'messages')).toBe(40);
    const { accepted, erased, ...rest } = await bench.deps.ledger.overview.batches('default' as never);
    expect(accepted).toBe(erased + Object.values(rest).reduce((sum, count) => sum + count, 0));
  });

  it('is not over while somebody still reads what was there before', async () => {
    const bench = await open(SOME);
    const reader = new Database(join(folder.path, 'ledger.db'), { readonly: true });
    reader.exec('BEGIN');
    reader.prepare('SELECT count(*) FROM messages').get();
    expect(await eraseMarked(bench)).toBeNull();
    const [erasure] = await bench.deps.ledger.erasures.open(10);
    expect(erasure?.state).toBe('compacting');
    reader.exec('COMMIT');
    reader.close();
    expect(await goOn(bench.deps, erasure?.id ?? '')).toMatchObject({ state: 'erased' });
    expect(await filesWithMarker(folder.path)).toEqual([]);
  });

  it('is all that changes an entry of the audit log', async () => {
    const path = join(folder.path, 'ledger.db');
    const bench = await open(SOME);
    const db = new Database(path);
    const change = (set: string) => () => db.exec(`UPDATE trail SET ${set}`);
    expect(change("actor = 'somebody else'")).toThrow('not changed');
    expect(change("subject_kind = 'erasure', status = 200")).toThrow('not changed');
    expect(change("subject_id = 'eve'")).toThrow('not changed');
    db.exec("INSERT INTO trail_posts VALUES ('default', 1, 'operator', '', 'a')");
    db.exec("UPDATE trail_posts SET entries = entries || 'b'");
    for (const set of ["actor = 'somebody else'", "entries = 'b'"]) {
      expect(() => db.exec(`UPDATE trail_posts SET ${set}`)).toThrow('not changed');
    }
    db.exec('DELETE FROM trail_posts');
    db.close();
    expect(await subjectsInTrail(bench)).toEqual({ user: 400 });
  });

  it('knows every table there is', async () => {
    const path = join(folder.path, 'ledger.db');
    closing.push(await openSqliteLedger({ path, tools: systemTools }));
    const db = new Database(path, { readonly: true });
    const select = "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY name";
    const tables = db.prepare(select).pluck().all();
    db.close();
    const erased = ERASING.flatMap(({ deletes }) => deletes.map(([table]) => table));
    expect([...new Set([...erased, ...KEPT, 'lanes'])].sort(), 'a table belongs in ERASING, or in KEPT').toEqual(
      tables,
    );
  });
});
