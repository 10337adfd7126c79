import { join } from 'node:path';
import type { StoredLedger } from '@slowwave/engine';
import { createMemoryIndex, user } from '@slowwave/engine-testing';
import { type TempDir, tempDir } from '@slowwave/testkit';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { openSqliteLedger } from '../src/sqlite/index.ts';
import { systemTools } from '../src/system/system.ts';
import { forgottenLife, MARKER, twoLives } from './erased-life.ts';
import { type LedgerServer, ledgerServer } from './postgres-ledger-fixture.ts';
import { beginWith, importLines, linesOf, thrownAway } from './travelling.ts';

let folder: TempDir;
let server: LedgerServer;
const opened: StoredLedger[] = [];

async function file(): Promise<StoredLedger> {
  const ledger = await openSqliteLedger({ path: join(folder.path, `${opened.length}.db`), tools: systemTools });
  opened.push(ledger);
  return ledger;
}

beforeAll(async () => {
  folder = await tempDir();
  server = await ledgerServer();
});
afterAll(async () => {
  for (const ledger of opened) await ledger.close();
  await server.stop();
  await folder.remove();
});

it.each([
  { who: 'much was said to', live: twoLives, owner: user(`${MARKER}-user`), moving: true },
  { who: 'wanted things forgotten', live: forgottenLife, owner: user('ann'), moving: false },
])(
  'an owner who $who travels from a file to PostgreSQL and on to a file, line by line, also after an attempt that was thrown away',
  async ({ live, owner, moving }) => {
    const from = await file();
    await live({ ledger: from, index: createMemoryIndex() });
    const lines = await linesOf(from, owner, moving);
    const [hosted, to] = [await server.open(), await file()];
    const remove = await thrownAway(hosted, { owner, lines });
    expect(await beginWith(hosted, { owner, lines })).toEqual({ kind: 'thrown_away' });
    await remove();
    await importLines(hosted, { owner, lines });
    const served = await linesOf(hosted, owner, moving);
    expect(served).toEqual(lines);
    await importLines(to, { owner, lines: served });
    expect(await linesOf(to, owner, moving)).toEqual(lines);
  },
);
