import { join } from 'node:path';
import type { StoredLedger } from '@slowwave/engine';
import { describeTenantCopies } from '@slowwave/engine-testing';
import { type TempDir, tempDir } from '@slowwave/testkit';
import { afterAll, afterEach, beforeAll } from 'vitest';
import { openPostgresLedger } from '../src/postgres/index.ts';
import { openSqliteLedger } from '../src/sqlite/index.ts';
import { systemTools } from '../src/system/system.ts';
import { type LedgerServer, ledgerServer } from './postgres-ledger-fixture.ts';

let folder: TempDir;
let server: LedgerServer;
const opened: StoredLedger[] = [];

async function file(): Promise<StoredLedger> {
  const ledger = await openSqliteLedger({ path: join(folder.path, `${systemTools.id('led')}.db`), tools: systemTools });
  opened.push(ledger);
  return ledger;
}

async function database(): Promise<StoredLedger> {
  const ledger = await openPostgresLedger({ url: await server.newDatabase(), tools: systemTools, log: server.log });
  opened.push(ledger);
  return ledger;
}

beforeAll(async () => {
  folder = await tempDir();
  server = await ledgerServer();
});
afterEach(async () => {
  for (const ledger of opened.splice(0)) await ledger.close();
});
afterAll(async () => {
  await server.stop();
  await folder.remove();
});

describeTenantCopies('copies of tenants in files', async () => [await file(), await file()]);
describeTenantCopies('copies of tenants in PostgreSQL', async () => [await database(), await database()]);
describeTenantCopies('copies of tenants from a file in PostgreSQL', async () => [await file(), await database()]);
