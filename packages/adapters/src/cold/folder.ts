import { type FileHandle, mkdir, open, readdir, readFile, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Objects } from './objects.ts';

const SUFFIX = '.segment';
/** What a process that died has left of a file; the next one with the name writes over it. */
const UNFINISHED = '.unfinished';

/** Objects as files of a folder, which is made when the first one is written. */
export function folderObjects(folder: string): Objects {
  const pathOf = (name: string): string => join(folder, `${name}${SUFFIX}`);
  return {
    put: async (name, bytes) => {
      await mkdir(folder, { recursive: true, mode: 0o700 });
      const unfinished = `${pathOf(name)}${UNFINISHED}`;
      await using(await open(unfinished, 'w', 0o600), async (file) => {
        await file.writeFile(bytes);
        await file.sync();
      });
      await rename(unfinished, pathOf(name));
      await syncFolder(folder);
    },
    get: (name) => unlessMissing(readFile(pathOf(name))),
    delete: async (name) => {
      await rm(pathOf(name), { force: true });
      await rm(`${pathOf(name)}${UNFINISHED}`, { force: true });
      await unlessMissing(syncFolder(folder));
    },
    list: async (after, limit) => {
      const files = ((await unlessMissing(readdir(folder))) ?? []).filter((file) => file.endsWith(SUFFIX)).sort();
      const names = files.map((file) => file.slice(0, -SUFFIX.length));
      const page = names.filter((name) => after === null || name > after).slice(0, limit);
      const found = await Promise.all(
        page.map(async (name) => {
          const file = await unlessMissing(stat(pathOf(name)));
          return file === null ? [] : [{ name, bytes: file.size }];
        }),
      );
      return found.flat();
    },
    remains: async () => [],
  };
}

/** A name is in its folder after a power failure, or gone from it. */
const syncFolder = async (folder: string): Promise<void> => using(await open(folder, 'r'), (file) => file.sync());

async function using<T>(file: FileHandle, work: (file: FileHandle) => Promise<T>): Promise<T> {
  try {
    return await work(file);
  } finally {
    await file.close();
  }
}

async function unlessMissing<T>(work: Promise<T>): Promise<T | null> {
  try {
    return await work;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
}
