import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DEFAULT_TENANT, type SearchIndex } from '@slowwave/engine';
import { describeSearchIndex, indexPoint, indexQuery, SUITE_SPACE } from '@slowwave/engine-testing';
import { spawnService, type TempDir, tempDir } from '@slowwave/testkit';
import Database from 'better-sqlite3';
import { afterAll, afterEach, beforeEach, describe, expect, test } from 'vitest';
import { openSqliteIndex, type SqliteIndexOptions } from '../src/sqlite/index.ts';
import { expectSameWhileWithdrawn, expectSameWhileWritten } from './written-again.ts';

/** One index for each that is emptied for every test: starting its threads each time would take most of the time. */
async function emptiedIndex(given: Partial<SqliteIndexOptions> = {}): Promise<SearchIndex> {
  const folder = await tempDir();
  const index = await openSqliteIndex({ path: join(folder.path, 'index.db'), ...SUITE_SPACE, ...given });
  afterAll(async () => {
    await index.close();
    await folder.remove();
  });
  return { ...index, close: async () => {} };
}

for (const [name, given] of [
  ['in a SQLite file', {}],
  ['in a SQLite file, where one point is already very many', { cache: { many: 1 } }],
] as const) {
  const emptied = await emptiedIndex(given);
  describeSearchIndex(name, async () => {
    await emptied.clear();
    return { index: emptied, close: async () => {} };
  });
}

/** What the first release made: one owner, one memory, one build that was under way. */
const OLDER_FORMAT = `
PRAGMA journal_mode = WAL; PRAGMA application_id = ${0x53_57_69_78}; PRAGMA user_version = 1;
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT;
CREATE TABLE owners (number INTEGER PRIMARY KEY AUTOINCREMENT, tenant TEXT, kind TEXT, id TEXT, changes INTEGER, points INTEGER);
CREATE TABLE points (row INTEGER PRIMARY KEY, owner INTEGER, change INTEGER, live INTEGER, payload TEXT, vector BLOB);
CREATE INDEX points_by_change ON points (owner, change);
CREATE TABLE points_next AS SELECT * FROM points;
INSERT INTO owners VALUES (1, 'default', 'user', '"ann"', 1, 1);
INSERT INTO points VALUES (16777216, 1, 1, 1, '{}', x'00');
INSERT INTO meta VALUES ('space', '{"dimensions":4,"fingerprint":"suite","terms":1}'), ('rebuild', '{}'),
  ('marker', '{"ledgerId":"led_1","fingerprint":"suite"}');
`;

describe('a SQLite index', () => {
  let folder: TempDir;
  let path: string;
  let opened: SearchIndex[];

  beforeEach(async () => {
    folder = await tempDir();
    path = join(folder.path, 'index.db');
    opened = [];
  });
  afterEach(async () => {
    await Promise.all(opened.map((index) => index.close()));
    await folder.remove();
  });

  const open = async (changed: Partial<Parameters<typeof openSqliteIndex>[0]> = {}): Promise<SearchIndex> => {
    const index = await openSqliteIndex({ path, ...SUITE_SPACE, ...changed });
    opened.push(index);
    return index;
  };
  const names = async (index: SearchIndex, given: Parameters<typeof indexQuery>[0] = {}): Promise<string[]> => {
    const [hits] = await index.search([indexQuery(given)]);
    return (hits ?? []).map((hit) => hit.point.memoryId);
  };

  test('what was written is there after closing and opening again', async () => {
    const first = await open();
    await first.stamp({ ledgerId: 'led_1', fingerprint: 'suite' });
    await first.upsert([indexPoint({ memoryId: 'm' })]);
    await first.close();
    const second = await open();
    expect(await second.marker()).toEqual({ ledgerId: 'led_1', fingerprint: 'suite' });
    expect(await names(second, { terms: ['tea'] })).toEqual(['m']);
  });

  test('what others write is seen at once, also by who has the owner in memory', async () => {
    const [one, other] = await Promise.all([open(), open()]);
    for (const memoryId of ['m1', 'm2', 'm3']) {
      await one.upsert([indexPoint({ memoryId })]);
      expect(await names(other)).toContain(memoryId);
    }
    await one.upsert([indexPoint({ memoryId: 'm2', revision: 2, live: false })]);
    expect(await names(other)).toEqual(['m1', 'm3']);
    await one.clear();
    expect(await names(other)).toEqual([]);
    await one.upsert([indexPoint({ memoryId: 'new' })]);
    expect(await names(other)).toEqual(['new']);
  });

  test('an owner that is written again and again is found as it is, by who keeps it and by who reads it anew', async () => {
    const fresh = await open({ cache: { bytes: 0, bytesOfMany: 0 } });
    const others = [await open(), await open({ cache: { many: 1 } }), await open({ cache: { many: 30 } })];
    await expectSameWhileWritten(fresh, others);
  });

  test('an owner of whom nearly all is withdrawn is found as it is', async () => {
    await expectSameWhileWithdrawn(open);
  });

  test('a search of one query does not wait for one of many, and both are answered before it closes', async () => {
    const index = await open();
    await index.upsert(Array.from({ length: 50 }, (_, n) => indexPoint({ memoryId: `m${n}` })));
    const answered: string[] = [];
    const many = index.search(Array.from({ length: 100 }, () => indexQuery())).then((found) => {
      answered.push('many');
      return found;
    });
    const one = index.search([indexQuery()]).then(() => answered.push('one'));
    await index.close();
    await Promise.all([many, one]);
    expect(answered).toEqual(['one', 'many']);
    expect(new Set((await many).map((hits) => hits.length))).toEqual(new Set([10]));
  });

  test('several may open a new file at once, and write at once', async () => {
    const indexes = await Promise.all([open(), open(), open()]);
    await Promise.all(
      indexes.flatMap((index, i) =>
        Array.from({ length: 10 }, (_, n) => index.upsert([indexPoint({ memoryId: `m${i}-${n}` })])),
      ),
    );
    const counts = await Promise.all(indexes.map((index) => index.count(DEFAULT_TENANT)));
    expect(counts).toEqual([30, 30, 30]);
  });

  test('a process that is killed while it writes loses nothing it was told is written', async () => {
    const main = new URL('./sqlite-index-child.ts', import.meta.url);
    const writer = await spawnService({ main, args: [path], ready: { line: /written 30/ } });
    const index = await open();
    expect(await names(index, { limit: 100_000 })).toContain('m30');
    await writer.kill();
    const written = writer.output().match(/written \d+/g)?.length ?? 0;
    const found = await names(index, { limit: 100_000 });
    expect(found.length).toBeGreaterThanOrEqual(written);
    expect(await index.count(DEFAULT_TENANT)).toBe(found.length);
  });

  test('an index too small to remember its owners answers all the same', async () => {
    const index = await open({ cache: { bytes: 0 } });
    const owners = ['a', 'b', 'c'].map((id) => ({ kind: 'user' as const, id }));
    await index.upsert(owners.map((owner) => indexPoint({ memoryId: `of-${owner.id}`, owner })));
    const asked = [0, 1, 2, 1, 0].map((i) => owners[i] ?? { kind: 'user' as const, id: '' });
    const answers = await index.search(asked.map((owner) => indexQuery({ owner })));
    expect(answers.map((hits) => hits[0]?.point.memoryId)).toEqual(['of-a', 'of-b', 'of-c', 'of-b', 'of-a']);
  });

  test('an index of another vector space is not believed, not searched, not written, until it is cleared', async () => {
    const old = await open();
    await old.stamp({ ledgerId: 'led_1', fingerprint: 'suite' });
    await old.upsert([indexPoint({ memoryId: 'm' })]);
    const renewed = await open({ dimensions: 2, fingerprint: 'other' });
    const vector = Float32Array.of(1, 0);
    expect(await renewed.marker()).toEqual({ ledgerId: 'led_1', fingerprint: expect.stringContaining('"suite"') });
    await expect(renewed.search([indexQuery({ vector })])).rejects.toMatchObject({
      code: 'index_unavailable',
      message: expect.stringMatching(/expected .*"dimensions":2.* got .*"dimensions":4.* rebuilt/),
    });
    await expect(renewed.upsert([indexPoint({ memoryId: 'n', vector })])).rejects.toThrow('rebuilt');
    await renewed.clear();
    await renewed.upsert([indexPoint({ memoryId: 'n', vector })]);
    expect(await names(renewed, { vector })).toEqual(['n']);
    await expect(old.search([indexQuery()])).rejects.toThrow('rebuilt');
  });

  test('owners whose ids are told apart by half characters only are strangers', async () => {
    const index = await open();
    const owners = ['a\ud800', 'a\udfff', 'a\ufffd'].map((id) => ({ kind: 'user' as const, id }));
    await index.upsert(owners.map((owner, i) => indexPoint({ memoryId: `m${i}`, owner })));
    const answers = await index.search(owners.map((owner) => indexQuery({ owner })));
    expect(answers.map((hits) => hits.map((hit) => hit.point.memoryId))).toEqual([['m0'], ['m1'], ['m2']]);
  });

  test('vectors with numbers that are not finite are refused', async () => {
    const index = await open();
    const vector = Float32Array.of(1, Number.NaN, 0, 0);
    await expect(index.upsert([indexPoint({ memoryId: 'm', vector })])).rejects.toMatchObject({ retryable: false });
  });

  test('a file of an older format is emptied, to be filled from the ledger, and its old tables go', async () => {
    const file = new Database(path);
    file.exec(OLDER_FORMAT);
    file.close();
    const index = await open();
    expect(await index.marker()).toBeNull();
    expect(await index.count(DEFAULT_TENANT)).toBe(0);
    await index.stamp({ ledgerId: 'led_1', fingerprint: 'suite' });
    await index.upsert([indexPoint({ memoryId: 'm' })]);
    expect(await names(await open())).toEqual(['m']);
    const after = new Database(path, { readonly: true });
    expect(after.prepare("SELECT count(*) FROM sqlite_schema WHERE name LIKE 'discarded%'").pluck().get()).toBe(0);
    after.close();
  });

  test('a file of a newer format is refused with what to do', async () => {
    const index = await open();
    await index.close();
    const file = new Database(path);
    file.pragma('user_version = 99');
    file.close();
    await expect(open()).rejects.toMatchObject({
      name: 'EngineError',
      retryable: false,
      message: expect.stringMatching(/format 99.*delete it: it is rebuilt from the ledger/),
    });
  });

  test('a database that is no index is refused and left as it is', async () => {
    const file = new Database(path);
    file.exec('CREATE TABLE precious (x)');
    await expect(open()).rejects.toThrow('got another kind of file');
    expect(file.prepare('SELECT name FROM sqlite_schema').all()).toEqual([{ name: 'precious' }]);
    file.close();
  });

  test('a damaged file is refused with what to do', async () => {
    await writeFile(path, 'this is no database, and long enough to be looked at'.repeat(100));
    await expect(open()).rejects.toMatchObject({ retryable: false, message: expect.stringContaining('is damaged') });
  });

  test('a closed index says so', async () => {
    const index = await open();
    await index.close();
    await index.close();
    await expect(index.count(DEFAULT_TENANT)).rejects.toMatchObject({
      code: 'index_unavailable',
      message: expect.stringContaining('closed'),
    });
  });
});
