import { join } from 'node:path';
import { openPostgresLedger } from '@slowwave/adapters/postgres';
import { openSqliteLedger } from '@slowwave/adapters/sqlite';
import { systemTools } from '@slowwave/adapters/system';
import { DEFAULT_TENANT, type StoredLedger } from '@slowwave/engine';
import { recordingLog } from '@slowwave/engine-testing';
import { freePort, spawnService, startPostgres, tempDir } from '@slowwave/testkit';
import { expect, it } from 'vitest';

/** What `bench ingest` is compared with writes to the ledger's own tables, and has to change with them. */
async function written(place: readonly string[], open: () => Promise<StoredLedger>): Promise<unknown[]> {
  const [port, main] = [await freePort(), new URL('../src/bench/bare/main.ts', import.meta.url)];
  const url = `http://127.0.0.1:${port}`;
  const service = await spawnService({ main, args: [String(port), ...place], ready: { url: `${url}/readyz` } });
  const posted = await Promise.all(
    ['ann', 'bob', 'ann'].map(async (user) => {
      const messages = [
        { role: 'user', content: `I am ${user}.` },
        { role: 'assistant', content: 'Hello!' },
      ];
      const headers = { 'content-type': 'application/json' };
      const answer = await fetch(`${url}/v1/batches`, {
        ...{ method: 'POST', headers },
        body: JSON.stringify({ user_id: user, messages }),
      });
      expect(answer.status).toBe(202);
      return ((await answer.json()) as { batch_id: string }).batch_id;
    }),
  );
  await service.kill();
  const ledger = await open();
  try {
    const found = await Promise.all(posted.map((id) => ledger.batches.get(DEFAULT_TENANT, id)));
    return found.map((batch) => [batch?.state, batch?.messageCount, batch?.scope.userId]);
  } finally {
    await ledger.close();
  }
}

const WRITTEN = ['ann', 'bob', 'ann'].map((user) => ['pending', 2, user]);

it('the bare writer of SQLite writes batches that the ledger reads', async () => {
  const folder = await tempDir();
  const path = join(folder.path, 'bare.db');
  try {
    expect(await written(['sqlite', path], () => openSqliteLedger({ path, tools: systemTools }))).toEqual(WRITTEN);
  } finally {
    await folder.remove();
  }
});

it('the bare writer of PostgreSQL does so, too', async () => {
  const server = await startPostgres();
  const url = new URL(server.url);
  url.pathname = '/bare';
  const open = () => openPostgresLedger({ url: url.href, tools: systemTools, log: recordingLog() });
  try {
    expect(await written(['postgres', server.url], open)).toEqual(WRITTEN);
  } finally {
    await server.stop();
  }
});
