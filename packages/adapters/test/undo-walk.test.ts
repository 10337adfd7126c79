import { join } from 'node:path';
import type { Ledger } from '@slowwave/engine';
import { fakeEmbedder, recordingLog, undoBench, walkUndos } from '@slowwave/engine-testing';
import { startPostgres, type TempDir, tempDir } from '@slowwave/testkit';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { openPostgresLedger } from '../src/postgres/index.ts';
import { openSqliteIndex, openSqliteLedger } from '../src/sqlite/index.ts';
import { systemTools } from '../src/system/system.ts';

const DIMENSIONS = 64;

let folder: TempDir;
beforeEach(async () => {
  folder = await tempDir();
});
afterEach(() => folder.remove());

it('whatever is taken back, the SQLite ledger and index are as if it had not been', async () => {
  await walkOn(await openSqliteLedger({ path: join(folder.path, 'ledger.db'), tools: systemTools }), 1);
});

it('whatever is taken back, the PostgreSQL ledger is as if it had not been', async () => {
  const postgres = await startPostgres();
  try {
    await walkOn(await openPostgresLedger({ url: postgres.url, tools: systemTools, log: recordingLog() }), 2);
  } finally {
    await postgres.stop();
  }
});

async function walkOn(ledger: Ledger, seed: number): Promise<void> {
  const embedder = fakeEmbedder(DIMENSIONS);
  const { fingerprint, dimensions } = embedder;
  const index = await openSqliteIndex({ path: join(folder.path, 'index.db'), fingerprint, dimensions });
  try {
    const bench = await undoBench({ embedder, stores: { ledger, index } });
    await walkUndos(bench, seed);
    expect((await ledger.undos.list('default' as never, {}, { limit: 9, cursor: null })).results).not.toEqual([]);
  } finally {
    await Promise.all([index.close(), ledger.close()]);
  }
}
