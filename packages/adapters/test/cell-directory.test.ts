import { join } from 'node:path';
import type { CellDirectory } from '@slowwave/engine/cells';
import { describeDirectory, recordingLog } from '@slowwave/engine-testing';
import { startPostgres, tempDir } from '@slowwave/testkit';
import { Client } from 'pg';
import { afterAll, afterEach, expect, test, vi } from 'vitest';
import { clockOf, openDirectory } from '../src/cells/index.ts';

const server = await startPostgres();
const folder = await tempDir();
const open: CellDirectory[] = [];
const closeAll = async (): Promise<void> => {
  for (const directory of open.splice(0)) await directory.close();
};
afterEach(closeAll);
afterAll(async () => {
  await server.stop();
  await folder.remove();
});

async function opened(where: string): Promise<CellDirectory> {
  const directory = await openDirectory(where, recordingLog());
  open.push(directory);
  return directory;
}

let files = 0;
describeDirectory('the directory in a SQLite file', () => {
  files += 1;
  return opened(join(folder.path, `directory-${files}.db`));
});

describeDirectory('the directory in PostgreSQL', async () => {
  const client = new Client({ connectionString: server.url });
  await client.connect();
  await client.query('DROP SCHEMA IF EXISTS slowwave_cells CASCADE');
  await client.end();
  return opened(server.url);
});

test('several processes that open one at once make it once', async () => {
  const path = join(folder.path, 'together.db');
  const [first, second] = await Promise.all([opened(path), opened(path)]);
  await first?.addCell({ name: 'a', url: 'http://a' });
  expect((await second?.changes(0))?.cells).toHaveLength(1);
});

test('the time of a directory in PostgreSQL is that of its server, whatever the clock of a host says', async () => {
  const right = Date.now();
  const directory = await opened(server.url);
  vi.useFakeTimers({ toFake: ['Date'], now: right + 86_400_000 });
  try {
    const now = await clockOf(directory);
    vi.setSystemTime(right - 86_400_000);
    expect(Math.abs(now() - right)).toBeLessThan(3_600_000);
  } finally {
    vi.useRealTimers();
  }
});
