import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The environment in which programs start fast: compiled modules are kept where ./scripts/start keeps them. */
export const FAST = { NODE_COMPILE_CACHE: fileURLToPath(new URL('../../../.cache/node', import.meta.url)) };

/** Made by the first start in a folder, which takes seconds: kept for the folders of the other tests of a file. */
const IMAGE = 'queue-image.tar';
let kept: Buffer | null = null;

/** Gives a new data folder what a first start would have left there. */
export async function warmFolder(folder: string): Promise<void> {
  if (kept !== null) await writeFile(join(folder, IMAGE), kept);
}

/** Keeps what a start has left in a folder; not every one leaves something. */
export async function keepWarm(folder: string): Promise<void> {
  kept ??= await readFile(join(folder, IMAGE)).catch(() => null);
}
