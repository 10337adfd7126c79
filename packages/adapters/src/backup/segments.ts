import { join } from 'node:path';
import { folderObjects } from '../cold/folder.ts';
import type { Objects } from '../cold/objects.ts';
import { s3Objects } from '../cold/s3.ts';
import type { Config } from '../config/index.ts';
import { type Manifest, refused } from './manifest.ts';

const FOLDER = 'segments';

/** Segments that an owner needs who sleeps, in a ledger; each dialect reads them. */
export const sleepersIn = (schema = ''): string =>
  `SELECT name FROM ${schema}segments WHERE state IN ('cooling', 'cold', 'waking') ORDER BY name`;

const placeOf = ({ bucket, folder }: NonNullable<Config['cold']>): Objects =>
  bucket === null ? folderObjects(folder) : s3Objects(bucket);

/** Copies the segments of those who sleep in a copied ledger. A bucket is not copied: it has backups of its own. */
export async function copySegments(
  { cold }: Pick<Config, 'cold'>,
  folder: string,
  names: readonly string[],
): Promise<Manifest['segments']> {
  const none = { sleeping: names.length, copied: 0, bytes: 0 };
  if (cold === null || cold.bucket !== null) return { ...none, store: cold === null ? 'unknown' : 'bucket' };
  const [from, to] = [folderObjects(cold.folder), folderObjects(join(folder, FOLDER))];
  let [copied, bytes] = [0, 0];
  for (const name of names) {
    const segment = await from.get(name);
    if (segment === null) continue;
    await to.put(name, segment);
    copied += 1;
    bytes += segment.length;
  }
  return { sleeping: names.length, copied, bytes, store: 'folder' };
}

/** Who sleeps would be empty to all who ask. */
export function requirePlace({ cold }: Pick<Config, 'cold'>, { segments }: Manifest): void {
  if (segments.sleeping === 0 || cold !== null) return;
  throw refused(
    `${segments.sleeping} owners sleep in this backup: set SLOWWAVE_COLD_DAYS, and SLOWWAVE_COLD_STORE to where their segments are or go`,
  );
}

/** Puts segments back that are not there. Answers with those that owners of the restored ledger lack. */
export async function restoreSegments(
  { cold }: Pick<Config, 'cold'>,
  folder: string,
  names: readonly string[],
): Promise<readonly string[]> {
  if (cold === null || names.length === 0) return names;
  const [from, to] = [folderObjects(join(folder, FOLDER)), placeOf(cold)];
  const missing: string[] = [];
  for (const name of names) {
    if ((await to.get(name)) !== null) continue;
    const segment = await from.get(name);
    if (segment === null) missing.push(name);
    else await to.put(name, segment);
  }
  return missing;
}
