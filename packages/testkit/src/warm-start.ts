import { createHash } from 'node:crypto';
import { access, copyFile, mkdir, readFile, rename } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = new URL('../../../', import.meta.url);
/** What the first start in a folder leaves there, after seconds of work, for the next ones. */
const IMAGE = 'queue-image.tar';

/** Gives a new data folder what a first start would have left there, if there was one before, in whichever test. */
export async function warmFolder(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true });
  await copyFile(await keptImage(), join(folder, IMAGE)).catch(() => {});
}

/** Keeps what a start has left in a folder; not every one leaves something. */
export async function keepWarm(folder: string): Promise<void> {
  const kept = await keptImage();
  if (await isThere(kept)) return;
  const unfinished = `${kept}.${process.pid}`;
  await copyFile(join(folder, IMAGE), unfinished)
    .then(() => rename(unfinished, kept))
    .catch(() => {});
}

/** Named after what is installed: another version of the database could not read it. */
async function keptImage(): Promise<string> {
  const installed = createHash('sha256').update(await readFile(new URL('pnpm-lock.yaml', ROOT)));
  const folder = fileURLToPath(new URL('.cache/', ROOT));
  await mkdir(folder, { recursive: true });
  return join(folder, `queue-image-${installed.digest('hex').slice(0, 12)}.tar`);
}

const isThere = (path: string): Promise<boolean> =>
  access(path).then(
    () => true,
    () => false,
  );
