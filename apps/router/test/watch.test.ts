import { join } from 'node:path';
import { openDirectory } from '@slowwave/adapters/cells';
import { createLog } from '@slowwave/adapters/pino';
import { tempDir } from '@slowwave/testkit';
import { expect, it, vi } from 'vitest';
import { watchDirectory } from '../src/watch.ts';

const DAY_MS = 86_400_000;
const HOUR_MS = 3_600_000;

it('goes by the time of the directory, whatever the clock of the host says, and wherever it is set', async () => {
  const folder = await tempDir();
  const log = createLog({ level: 'silent', name: 'router' });
  let time = Date.now();
  const directory = { ...(await openDirectory(join(folder.path, 'directory.db'), log)), now: async () => time };
  vi.useFakeTimers({ toFake: ['Date'], now: time + DAY_MS });
  const watched = await watchDirectory(directory, log);
  try {
    const off = (): number => Math.abs(watched.now() - time);
    expect(off()).toBeLessThan(HOUR_MS);
    vi.setSystemTime(time - DAY_MS);
    expect(off()).toBeLessThan(HOUR_MS);
    time += DAY_MS;
    await watched.refresh();
    expect(off()).toBeLessThan(HOUR_MS);
  } finally {
    vi.useRealTimers();
    await watched.close();
    await directory.close();
    await folder.remove();
  }
});
