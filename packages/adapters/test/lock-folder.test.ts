import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { tempDir } from '@slowwave/testkit';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { lockFolder, requireSameQueue } from '../src/sqlite/lock-folder.ts';

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

const OURS = 'redis://127.0.0.1:6379';

test.each([
  ['a queue of its own', null, 'a queue of its own in memory'],
  ['a queue on another server', 'redis://127.0.0.1:6380', 'a queue on another server'],
])(
  'beside a process with %s nobody else works the folder, with who has it and what to do',
  async (_whose, queue, where) => {
    const lock = await lockFolder(folder.path, queue);
    const refused = requireSameQueue(folder.path, OURS);
    await expect(refused).rejects.toThrow(
      `process ${process.pid} works on the data folder ${folder.path} with ${where}`,
    );
    await expect(requireSameQueue(folder.path, OURS)).rejects.toThrow('start it with the REDIS_URL of this one');
    await lock.close();
    await expect(requireSameQueue(folder.path, OURS)).resolves.toBeUndefined();
  },
);

test('processes on one queue share a folder, also one that nobody has worked yet', async () => {
  await expect(requireSameQueue(`${folder.path}/new`, OURS)).resolves.toBeUndefined();
  const lock = await lockFolder(folder.path, OURS);
  await expect(requireSameQueue(folder.path, OURS)).resolves.toBeUndefined();
  await lock.close();
});

test.each([
  ['redis://localhost:6379', 'redis://127.0.0.1:6379'],
  ['redis://localhost', 'redis://[::1]:6379/0'],
  ['redis://user:secret@127.0.0.1:6379/0?family=4&db=0', 'redis://127.0.0.1?db=0&family=4'],
  ['rediss://LOCALHOST.:6379/3', 'redis://localhost/3'],
  ['redis://queue.invalid:6379', 'redis://QUEUE.invalid/'],
])('%s and %s are one queue', async (theirs, ours) => {
  const lock = await lockFolder(folder.path, theirs);
  await expect(requireSameQueue(folder.path, ours)).resolves.toBeUndefined();
  await lock.close();
});

test.each([
  ['redis://localhost/1', 'redis://localhost/2'],
  ['redis://localhost:6379', 'redis://localhost:6380'],
  ['redis://one.invalid', 'redis://two.invalid'],
  ['postgres://localhost:6379/0', 'redis://localhost:6379/0'],
])('%s and %s are two queues', async (theirs, ours) => {
  const lock = await lockFolder(folder.path, theirs);
  await expect(requireSameQueue(folder.path, ours)).rejects.toThrow('a queue on another server');
  await lock.close();
});

test('the file that names the queue has no password in it', async () => {
  const url = 'redis://user:secret@127.0.0.1:6379';
  const lock = await lockFolder(folder.path, url);
  const file = join(folder.path, 'standalone.queue');
  expect(await readFile(file, 'utf8')).toBe('redis localhost 6379/0');
  await lock.close();
});
