import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';

export interface Lock {
  close(): Promise<void>;
}

/** Claims a data folder for this process; throws when another living process has it. A lock left by a crash is taken over. */
export async function lockFolder(path: string): Promise<Lock> {
  await mkdir(dirname(path), { recursive: true });
  await claim(path);
  return { close: () => rm(path, { force: true }) };
}

async function claim(path: string): Promise<void> {
  try {
    await writeFile(path, String(process.pid), { flag: 'wx' });
  } catch (error) {
    if (!isExisting(error)) throw error;
    const holder = Number(await readFile(path, 'utf8').catch(() => ''));
    if (holder !== process.pid && isAlive(holder)) {
      throw new Error(
        `${dirname(path)} is in use by process ${holder}: stop that one, or choose another folder with --data-dir ` +
          `(several processes on one folder need REDIS_URL; see docs/operations.md)`,
      );
    }
    await rm(path, { force: true });
    await claim(path);
  }
}

const isExisting = (error: unknown): boolean => error instanceof Error && 'code' in error && error.code === 'EEXIST';

function isAlive(pid: number): boolean {
  if (!Number.isInteger(pid) || pid <= 0) return false;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM';
  }
}
