import { mkdir, rm, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { DEFAULT_TENANT, EngineError } from '@slowwave/engine';
import {
  createMemoryIndex,
  engineBench,
  expectConserved,
  fakeChat,
  newBatch,
  type Script,
  user,
} from '@slowwave/engine-testing';
import { spawnService } from '@slowwave/testkit';
import Database from 'better-sqlite3';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { newestOf } from '../src/ledger/schema.ts';
import type { SqliteLedger } from '../src/sqlite/index.ts';
import { ledgerIdOf, MIGRATIONS, migrate } from '../src/sqlite/ledger/migrate.ts';
import { connectToWrite } from '../src/sqlite/ledger/sql.ts';
import { systemTools } from '../src/system/system.ts';
import { type LedgerFile, ledgerFile } from './sqlite-ledger-fixture.ts';

const NEWEST = newestOf(MIGRATIONS);

const POLICY = { tokens: 1_000, idleMs: 60_000, maxAgeMs: 600_000 };

let file: LedgerFile;
beforeEach(async () => {
  file = await ledgerFile();
});
afterEach(() => file.remove());

const append = async (ledger: SqliteLedger): Promise<string> => {
  const batch = newBatch(systemTools);
  const appended = await ledger.batches.append(batch, POLICY);
  expect(appended.kind).toBe('stored');
  return batch.id;
};

const positionsOf = async (ledger: SqliteLedger): Promise<number[]> => {
  const { results } = await ledger.batches.list(DEFAULT_TENANT, {}, { limit: 1_000, cursor: null });
  return results.map((batch) => batch.position).sort((a, b) => a - b);
};

const upTo = (count: number): number[] => Array.from({ length: count }, (_, i) => i + 1);

it.each([
  ['removed', async () => {}, 'was removed'],
  ['replaced by another one', async (path: string) => writeFile(path, ''), 'was replaced by another file'],
])('accepts nothing once its file is %s, and says so', async (_how, put, said) => {
  const ledger = await file.open();
  const reading = await file.open({ readOnly: true });
  await append(ledger);
  await ledger.check();
  await rm(dirname(file.path), { recursive: true });
  await mkdir(dirname(file.path));
  await put(file.path);
  await expect(append(ledger)).rejects.toThrow(said);
  await expect(append(ledger)).rejects.toMatchObject({ code: 'ledger_unavailable' });
  await expect(ledger.check()).rejects.toThrow(said);
  await expect(reading.check()).rejects.toThrow(said);
});

it('keeps no words of a wish to forget beyond those of its message', async () => {
  const ledger = await file.open();
  const words = 'Please forget that I smoke';
  const extract: Script = (input) => {
    const [{ id }] = input.messages as unknown as [{ id: string }];
    return { facts: [{ text: words, source_ids: [id], quote: words, category: 'forget' }] };
  };
  const chat = fakeChat({ extract_facts: extract });
  const engine = await engineBench({ chat, stores: { ledger, index: createMemoryIndex() } });
  await engine.post([words]);
  await engine.run();
  const db = new Database(file.path, { readonly: true });
  const quotes = () => db.prepare('SELECT quote FROM wishes').pluck().all();
  const before = quotes();
  const how = { now: engine.tools.now(), limit: 10 };
  expect(await ledger.retention.removeMessages(DEFAULT_TENANT, engine.tools.now() + 1, how)).toBe(1);
  const after = quotes();
  db.close();
  expect(before).toEqual([words]);
  expect(after).toEqual([null]);
});

describe('batches posted at the same time', () => {
  it('share a commit', async () => {
    const ledger = await file.open();
    await Promise.all(upTo(200).map(() => append(ledger)));
    const { commits, calls } = await ledger.committed();
    expect(calls).toBe(200);
    expect(commits).toBeLessThan(calls);
    expect(await positionsOf(ledger)).toEqual(upTo(200));
  });

  it('do not fail with one among them that is refused', async () => {
    const ledger = await file.open();
    const twice = newBatch(systemTools);
    const batches = [newBatch(systemTools), twice, newBatch(systemTools), twice, newBatch(systemTools)];
    const settled = await Promise.allSettled(batches.map((batch) => ledger.batches.append(batch, POLICY)));
    expect(settled.map(({ status }) => status)).toEqual([
      'fulfilled',
      'fulfilled',
      'fulfilled',
      'rejected',
      'fulfilled',
    ]);
    expect(await positionsOf(ledger)).toEqual([1, 2, 3, 4]);
    await expectConserved(ledger, DEFAULT_TENANT);
  });

  it('are all answered before the ledger closes', async () => {
    const ledger = await file.open();
    const answers = upTo(50).map(() => append(ledger));
    await ledger.close();
    expect(new Set(await Promise.all(answers)).size).toBe(50);
    await expect(append(ledger)).rejects.toThrow(/closed/);
  });
});

describe('two ledgers on one file', () => {
  it('opened at the same time find one schema and one id', async () => {
    const ledgers = await Promise.all(upTo(3).map(() => file.open()));
    expect(new Set(ledgers.map(({ id }) => id)).size).toBe(1);
    await Promise.all(ledgers.map((ledger) => ledger.check()));
  });

  it('write one lane in turns, without gaps', async () => {
    const [one, other] = [await file.open(), await file.open()];
    await Promise.all(upTo(60).map((i) => append(i % 2 === 0 ? one : other)));
    expect(await positionsOf(other)).toEqual(upTo(60));
    await expectConserved(one, DEFAULT_TENANT);
  });

  it('see at once what the other has acknowledged', async () => {
    const [one, other] = [await file.open(), await file.open()];
    const id = await append(one);
    expect((await other.batches.get(DEFAULT_TENANT, id))?.state).toBe('pending');
  });
});

describe('a ledger opened for reading only', () => {
  it('reads, and refuses to write with a reason', async () => {
    const writing = await file.open();
    const id = await append(writing);
    const reading = await file.open({ readOnly: true });
    expect(reading.id).toBe(writing.id);
    expect((await reading.batches.get(DEFAULT_TENANT, id))?.id).toBe(id);
    await reading.check();
    await expect(append(reading)).rejects.toThrow(/for reading only/);
    const lane = await writing.lanes.find(DEFAULT_TENANT, user('ann'));
    expect(await reading.memories.laneOf(DEFAULT_TENANT, user('ann'), 0)).toBe(lane?.id);
  });

  it('needs a file that somebody has made', async () => {
    const failure = await file.open({ readOnly: true }).catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(EngineError);
  });
});

describe('a killed process', () => {
  it('loses nothing it had acknowledged', async () => {
    const child = await spawnService({
      main: new URL('./sqlite-ledger-crash-child.ts', import.meta.url),
      args: [file.path, '16'],
    });
    await child.waitForLine(/^ack 200 /);
    await child.kill();
    // The last line may be cut off in the middle.
    const lines = child.output().split('\n').slice(0, -1);
    const acked = lines.flatMap((line) => /^ack \d+ (bat_\w+)$/.exec(line)?.[1] ?? []);
    const ledger = await file.open();
    const found = await Promise.all(acked.map((id) => ledger.batches.get(DEFAULT_TENANT, id)));
    expect(found.filter((batch) => batch === null)).toEqual([]);
    const { accepted } = await ledger.overview.batches(DEFAULT_TENANT);
    expect(accepted).toBeGreaterThanOrEqual(acked.length);
    await expectConserved(ledger, DEFAULT_TENANT);
    await append(ledger);
  });
});

describe('the schema', () => {
  it('of the next release is worked on, and left as it is', async () => {
    const first = await file.open();
    editFile((db) => {
      db.exec("ALTER TABLE lanes ADD COLUMN later TEXT; ALTER TABLE batches ADD COLUMN later TEXT NOT NULL DEFAULT ''");
      db.pragma(`user_version = ${NEWEST + 1}`);
    });
    await append(first);
    const second = await file.open();
    await append(second);
    const reader = await file.open({ readOnly: true });
    expect((await reader.overview.batches(DEFAULT_TENANT)).accepted).toBe(2);
    await expectConserved(reader, DEFAULT_TENANT);
    editFile((db) => expect(db.pragma('user_version', { simple: true })).toBe(NEWEST + 1));
  });

  it('of a release after the next is refused with advice', async () => {
    await (await file.open()).close();
    editFile((db) => db.pragma(`user_version = ${NEWEST + 2}`));
    for (const readOnly of [false, true]) {
      await expect(file.open({ readOnly })).rejects.toThrow(/schema \d+.*start that release, or restore a backup/s);
    }
  });

  it.each([1, 25, 99])('of a pre-release (%i) is refused with advice, and left as it is', async (schema) => {
    await (await file.open()).close();
    editFile((db) => db.pragma(`user_version = ${schema}`));
    for (const readOnly of [false, true]) {
      const failure = await file.open({ readOnly }).catch((error: unknown) => error);
      expect(failure).toMatchObject({ code: 'ledger_unavailable', retryable: false });
      expect(String(failure)).toMatch(
        /has schema \d+, .*a pre-release created it; read it with that checkout.*empty data folder/,
      );
    }
    editFile((db) => expect(db.pragma('user_version', { simple: true })).toBe(schema));
  });

  it('that is missing tells a reader who makes it', async () => {
    await (await file.open()).close();
    editFile((db) => db.pragma('user_version = 0'));
    await expect(file.open({ readOnly: true })).rejects.toThrow(/start a process of this release that writes/);
  });

  it('of a release before is brought up to date, once', async () => {
    const ledger = await file.open();
    await append(ledger);
    const later = [...MIGRATIONS, "ALTER TABLE lanes ADD COLUMN later TEXT NOT NULL DEFAULT 'so'"];
    const sql = connectToWrite(file.path);
    for (const id of ['led_second', 'led_third']) migrate(sql, id, later);
    expect(sql.get('SELECT later FROM lanes')).toEqual({ later: 'so' });
    expect(ledgerIdOf(sql)).toBe(ledger.id);
    expect(sql.db.pragma('user_version', { simple: true })).toBe(NEWEST + 1);
    sql.db.close();
    await append(ledger);
  });

  it('of a new ledger is made by all there are', async () => {
    await mkdir(dirname(file.path), { recursive: true });
    const sql = connectToWrite(file.path);
    migrate(sql, 'led_first', [...MIGRATIONS, 'ALTER TABLE lanes ADD COLUMN later TEXT']);
    expect(sql.db.pragma('user_version', { simple: true })).toBe(NEWEST + 1);
    sql.db.close();
    expect((await file.open()).id).toBe('led_first');
  });

  it('stays as it was when a migration fails', async () => {
    const ledger = await file.open();
    const sql = connectToWrite(file.path);
    const broken = [
      ...MIGRATIONS,
      'ALTER TABLE lanes ADD COLUMN later TEXT',
      'ALTER TABLE nowhere ADD COLUMN later TEXT',
    ];
    expect(() => migrate(sql, 'led_second', broken)).toThrow('nowhere');
    expect(sql.db.pragma('user_version', { simple: true })).toBe(NEWEST);
    expect(sql.all("SELECT 1 FROM pragma_table_info('lanes') WHERE name = 'later'")).toEqual([]);
    sql.db.close();
    await append(ledger);
  });

  it('is made once, however often the ledger is opened', async () => {
    const first = await file.open();
    const id = await append(first);
    await first.close();
    const again = await file.open();
    expect(again.id).toBe(first.id);
    expect((await again.batches.get(DEFAULT_TENANT, id))?.position).toBe(1);
  });
});

describe('a ledger that cannot be written', () => {
  it('says so as an outage worth another try while another process holds it', async () => {
    const ledger = await file.open();
    const db = new Database(file.path);
    db.exec('BEGIN IMMEDIATE');
    const failure = await append(ledger).catch((error: unknown) => error);
    expect(failure).toMatchObject({ code: 'ledger_unavailable', retryable: true });
    db.exec('ROLLBACK');
    db.close();
    await append(ledger);
  });

  it('is refused for good when the file is no database', async () => {
    await mkdir(dirname(file.path), { recursive: true });
    await writeFile(file.path, 'these are my notes, '.repeat(500));
    await expect(file.open()).rejects.toMatchObject({ code: 'ledger_unavailable', retryable: false });
  });
});

function editFile(edit: (db: Database.Database) => void): void {
  const db = new Database(file.path);
  edit(db);
  db.close();
}
