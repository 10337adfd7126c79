import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DEFAULT_TENANT, type Ledger } from '@slowwave/engine';
import { added, home, newBatch, user } from '@slowwave/engine-testing';
import { type TempDir, tempDir } from '@slowwave/testkit';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { backUp, restore } from '../src/backup/index.ts';
import { type Config, readStandaloneConfig } from '../src/config/index.ts';
import { newestOf } from '../src/ledger/schema.ts';
import { openPostgresLedger } from '../src/postgres/index.ts';
import { MIGRATIONS } from '../src/postgres/ledger/migrate.ts';
import { systemTools } from '../src/system/system.ts';
import { type LedgerServer, ledgerServer } from './postgres-ledger-fixture.ts';

const NEWEST = newestOf(MIGRATIONS);

let server: LedgerServer;
let folder: TempDir;
let config: Config;
let url: string;
beforeAll(async () => {
  server = await ledgerServer();
});
afterAll(() => server.stop());
beforeEach(async () => {
  folder = await tempDir();
  url = await server.newDatabase();
  config = readStandaloneConfig({ DATABASE_URL: url, SLOWWAVE_DATA_DIR: folder.path }, {});
});
afterEach(() => folder.remove());

const how = { cancel: new AbortController().signal, onBytes: () => {} };
const copy = (): string => join(folder.path, 'copy');

async function withLedger<T>(work: (ledger: Ledger) => Promise<T>): Promise<T> {
  const ledger = await openPostgresLedger({ url, tools: systemTools, log: server.log });
  try {
    return await work(ledger);
  } finally {
    await ledger.close();
  }
}

async function write(ledger: Ledger, count: number): Promise<void> {
  const lane = await ledger.memories.laneOf(DEFAULT_TENANT, user('ann'), systemTools.now());
  const changes = Array.from({ length: count }, () => added(systemTools, home(lane)));
  await ledger.memories.write(DEFAULT_TENANT, { changes, tombstones: [], now: systemTools.now() });
}

test('a dump on PostgreSQL has what was there when it began, and comes back under a new id', async () => {
  const batch = newBatch(systemTools);
  const id = await withLedger(async (ledger) => {
    await ledger.batches.append(batch, { tokens: 1, idleMs: 1, maxAgeMs: 1 });
    await write(ledger, 5);
    const manifest = await backUp(config, copy(), how); // the ledger is open, and in use
    expect(manifest).toMatchObject({ kind: 'postgres', ledger_id: ledger.id, counts: { batches: 1, memories: 5 } });
    await write(ledger, 3);
    await expect(restore(config, copy(), { ...how, force: true })).rejects.toThrow('is in use by');
    return ledger.id;
  });
  await expect(restore(config, copy(), { ...how, force: false })).rejects.toThrow('--force');
  const { ledgerId } = await restore(config, copy(), { ...how, force: true });
  await withLedger(async (ledger) => {
    expect(ledger.id).toBe(ledgerId);
    expect(ledger.id).not.toBe(id);
    expect(await ledger.audit.memories()).toBe(5);
    expect(await ledger.batches.get(DEFAULT_TENANT, batch.id)).toMatchObject({ state: 'pending' });
    await write(ledger, 1);
  });
});

test('a dump comes back into a new database, without a word', async () => {
  await withLedger((ledger) => write(ledger, 2));
  await backUp(config, copy(), how);
  url = await server.newDatabase();
  const elsewhere = readStandaloneConfig({ DATABASE_URL: url, SLOWWAVE_DATA_DIR: folder.path }, {});
  await restore(elsewhere, copy(), { ...how, force: false });
  await withLedger(async (ledger) => expect(await ledger.audit.memories()).toBe(2));
});

test('a restore that fails leaves the ledger as it was', async () => {
  await withLedger((ledger) => write(ledger, 2));
  await backUp(config, copy(), how);
  const aborted = AbortSignal.abort();
  await expect(restore(config, copy(), { ...how, cancel: aborted, force: true })).rejects.toThrow('pg_restore');
  await withLedger(async (ledger) => expect(await ledger.audit.memories()).toBe(2));
});

test.each([22, NEWEST + 1])('a backup of a schema that this release does not know (%i) is refused', async (schema) => {
  await withLedger((ledger) => write(ledger, 1));
  await backUp(config, copy(), how);
  const path = join(copy(), 'manifest.json');
  await writeFile(path, JSON.stringify({ ...JSON.parse(await readFile(path, 'utf8')), schema }));
  const refusal = `has schema ${schema}, but this release restores schemas 100 to ${NEWEST}`;
  await expect(restore(config, copy(), { ...how, force: true })).rejects.toThrow(refusal);
  await withLedger(async (ledger) => expect(await ledger.audit.memories()).toBe(1));
});

test('a backup of one kind of ledger is not restored into another', async () => {
  await withLedger((ledger) => write(ledger, 1));
  await backUp(config, copy(), how);
  const onFile = readStandaloneConfig({ SLOWWAVE_DATA_DIR: folder.path }, {});
  await expect(restore(onFile, copy(), { ...how, force: true })).rejects.toThrow('set DATABASE_URL');
});
