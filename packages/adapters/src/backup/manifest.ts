import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { open, readFile, rename, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { EngineError } from '@slowwave/engine';
import { z } from 'zod';
import { folderObjects, type Objects, s3Objects } from '../cold/objects.ts';
import type { Config } from '../config/index.ts';
import { LAST_BACKUP } from '../ledger/schema.ts';

/** Goes up with every change of what a backup is made of. */
const FORMAT = 1;
const MANIFEST = 'manifest.json';
/** Readable for nobody else: it holds what users said. */
export const PRIVATE_FILE = 0o600;
export const PRIVATE_FOLDER = 0o700;

const Count = z.int().min(0);
const Manifest = z.strictObject({
  format: z.literal(FORMAT),
  /** What the file is restored with. */
  kind: z.enum(['sqlite', 'postgres']),
  ledger_id: z.string().min(1),
  schema: z.int().min(1),
  /** The moment whose state it is. */
  taken_at: z.iso.datetime(),
  file: z.string().regex(/^[a-z.]+$/),
  bytes: Count,
  sha256: z.string().regex(/^[0-9a-f]{64}$/),
  /** Of owners that sleep. Those in a folder are copied; a bucket has backups of its own. */
  segments: z.strictObject({
    ...{ sleeping: Count, copied: Count, bytes: Count },
    store: z.enum(['folder', 'bucket', 'unknown']),
  }),
  counts: z.strictObject({ batches: Count, messages: Count, memories: Count, versions: Count, events: Count }),
});
export type Manifest = z.infer<typeof Manifest>;
export type Counts = Manifest['counts'];

/** Tables by the name of their count. */
export const COUNTED: readonly (keyof Counts)[] = ['batches', 'messages', 'memories', 'versions', 'events'];

/** Counts the rows of a table, in a schema; of messages also those that are no rows yet. */
export function countIn(table: keyof Counts, schema = ''): string {
  const rows = `SELECT count(*) FROM ${schema}${table}`;
  if (table !== 'messages') return rows;
  const unclaimed = `${schema}unclaimed_messages u JOIN ${schema}batches b ON b.id = u.batch_id`;
  return `SELECT (${rows}) + (SELECT coalesce(sum(b.message_count), 0) FROM ${unclaimed})`;
}

/** How many bytes were read, of how many. */
export type OnBytes = (done: number, total: number) => void;

/** Copies the segments that the owners of a copied ledger need. */
export type CopySegments = (names: readonly string[]) => Promise<Manifest['segments']>;

export interface RestoredLedger {
  readonly ledgerId: string;
  /** The segments that its owners need. */
  readonly sleepers: readonly string[];
}

type Described = Omit<Manifest, 'format' | 'bytes' | 'sha256'>;

/** Ends a backup: with its file on the disk, and a manifest that says what it is. Without one it is not complete. */
export async function writeManifest(folder: string, described: Described): Promise<Manifest> {
  const path = join(folder, described.file);
  const { size } = await stat(path);
  await synced(path);
  const manifest: Manifest = { format: FORMAT, ...described, bytes: size, sha256: await sha256Of(path, () => {}) };
  const draft = join(folder, `${MANIFEST}.part`);
  await writeFile(draft, `${JSON.stringify(manifest, null, 2)}\n`, { mode: PRIVATE_FILE, flush: true });
  await rename(draft, join(folder, MANIFEST));
  await synced(folder);
  return manifest;
}

/** What the ledger itself remembers of its last backup. A copy that was made before knows nothing of it. */
export const notedOf = ({ taken_at: at, bytes }: Manifest): string => JSON.stringify({ at: Date.parse(at), bytes });

/** As each dialect writes it. */
export const noteBackup = (meta: string, value: '?' | '$1'): string => `
  INSERT INTO ${meta} (key, value) VALUES ('${LAST_BACKUP}', ${value})
  ON CONFLICT (key) DO UPDATE SET value = excluded.value`;

/** The manifest of a backup whose file is all there and unchanged. */
export async function readManifest(folder: string, onBytes: OnBytes): Promise<Manifest> {
  const manifest = parse(folder, await textOf(folder));
  const path = join(folder, manifest.file);
  const { size } = await stat(path).catch(() => ({ size: -1 }));
  if (size < 0)
    throw refused(`expected ${path}, as listed in the manifest, got no such file; the backup is incomplete`);
  const sha256 = size === manifest.bytes ? await sha256Of(path, onBytes) : 'another length';
  if (sha256 === manifest.sha256) return manifest;
  throw refused(
    `expected ${path} as it was written (${manifest.bytes} bytes, SHA-256 ${manifest.sha256}), got ${size} bytes, ` +
      `${sha256}; the backup is damaged; use another one`,
  );
}

async function textOf(folder: string): Promise<string> {
  try {
    return await readFile(join(folder, MANIFEST), 'utf8');
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw refused(`expected a backup in ${folder}, got no complete one: ${why}; use the folder of a complete backup`);
  }
}

function parse(folder: string, text: string): Manifest {
  try {
    return Manifest.parse(JSON.parse(text));
  } catch (error) {
    const why = error instanceof z.ZodError ? z.prettifyError(error) : String(error);
    throw refused(
      `the manifest in ${folder} cannot be read by this release: ${why}; restore it with the release that created it`,
    );
  }
}

async function sha256Of(path: string, onBytes: OnBytes): Promise<string> {
  const { size } = await stat(path);
  const hash = createHash('sha256');
  let done = 0;
  for await (const chunk of createReadStream(path)) {
    hash.update(chunk as Buffer);
    done += (chunk as Buffer).length;
    onBytes(done, size);
  }
  return hash.digest('hex');
}

/** On the disk: a file, or the names in a folder. */
export async function synced(path: string): Promise<void> {
  const handle = await open(path, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** Nothing was changed, and trying again changes nothing: somebody has to do what the message says. */
export const refused = (message: string, cause?: unknown): EngineError =>
  new EngineError(message, { code: 'ledger_unavailable', retryable: false, cause });

/** Somebody else has the ledger; when they let go of it, it works. */
export const held = (message: string): EngineError =>
  new EngineError(message, { code: 'ledger_unavailable', retryable: true });

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
