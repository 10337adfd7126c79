import { tempDir } from '@slowwave/testkit';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { lockFolder } from './lock-folder.ts';

let folder: Awaited<ReturnType<typeof tempDir>>;
beforeEach(async () => {
  folder = await tempDir();
});
afterEach(() => folder.remove());

test('a folder in use is refused, with who has it and what to do', async () => {
  const lock = await lockFolder(folder.path);
  await expect(lockFolder(folder.path)).rejects.toThrow(`${folder.path} is in use by process ${process.pid}`);
  await lock.close();
});

test('a folder that was let go can be claimed again', async () => {
  const first = await lockFolder(folder.path);
  await first.close();
  const second = await lockFolder(folder.path);
  await expect(second.close()).resolves.toBeUndefined();
});

test('of many that claim a folder at once, one gets it', async () => {
  const claims = await Promise.allSettled(Array.from({ length: 8 }, () => lockFolder(`${folder.path}/new`)));
  const locks = claims.flatMap((claim) => (claim.status === 'fulfilled' ? [claim.value] : []));
  expect(locks).toHaveLength(1);
  await Promise.all(locks.map((lock) => lock.close()));
});
