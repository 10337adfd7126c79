import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import { PGlite, type PGliteOptions } from '@electric-sql/pglite';
import type { PgliteInit, PgliteStart } from './pglite-thread.ts';

/** The schema of the queue library's tables, in which it looks for them by default. */
const SCHEMA = 'bullmq';

const OPTIONS: PGliteOptions = {
  // bigint as text, as node-postgres gives it; the other types are parsed alike.
  parsers: { 20: (value) => value },
};

interface Cluster {
  readonly db: PGlite;
  readonly start: PgliteStart;
}

/** An empty in-memory cluster with the queue's tables: from its image, which is made when there is none that fits. */
export async function openCluster({ imagePath, schemaVersion }: PgliteInit): Promise<Cluster> {
  const loaded = await fromImage(imagePath, schemaVersion).catch((error: Error) => error);
  if (loaded instanceof PGlite) return { db: loaded, start: { from: 'image', problem: null } };
  const db = await fromNothing();
  const unread = loaded === null ? null : `could not use ${imagePath}: ${loaded.message}`;
  const unwritten = await writeImage(db, imagePath).catch((error: Error) => `could not write: ${error.message}`);
  await useSchema(db);
  return { db, start: { from: 'nothing', problem: unwritten ?? unread } };
}

/** null when there is none. */
async function fromImage(path: string, schemaVersion: number): Promise<PGlite | null> {
  const packed = await readFile(path).catch(() => null);
  if (packed === null) return null;
  // Unpacked here, because PGlite ends the process over a truncated file; this also checks its checksum.
  const image = gunzipSync(packed);
  const db = await PGlite.create({ ...OPTIONS, loadDataDir: new Blob([image], { type: 'application/x-tar' }) });
  await useSchema(db);
  const { rows } = await db.query<{ version: number }>('SELECT max(version) AS version FROM migration');
  if (rows[0]?.version === schemaVersion) return db;
  await db.close();
  throw new Error(`expected tables of version ${schemaVersion}, got ${rows[0]?.version}`);
}

async function fromNothing(): Promise<PGlite> {
  const db = await PGlite.create(OPTIONS);
  const query = async (text: string, params: readonly unknown[] = []) => {
    const result = params.length > 0 ? await db.query(text, [...params]) : (await db.exec(text)).at(-1);
    return { rows: (result?.rows ?? []) as never[] };
  };
  const { runMigrations } = await import('bullmq'); // here only: with an image the thread does without the library
  await runMigrations({ query }, SCHEMA, { skipVersionCheck: true });
  await db.refreshArrayTypes(); // PGlite learns array types when it starts, before the tables had brought theirs
  return db;
}

/** Under another name first, so that nobody reads half an image, and two processes starting at once do no harm. */
async function writeImage(db: PGlite, path: string): Promise<null> {
  const blob = await db.dumpDataDir('none');
  const unfinished = `${path}.${process.pid}.unfinished`;
  try {
    await mkdir(dirname(path), { recursive: true });
    await writeFile(unfinished, gzipSync(Buffer.from(await blob.arrayBuffer())));
    await rename(unfinished, path);
  } catch (error) {
    await rm(unfinished, { force: true });
    throw error;
  }
  return null;
}

/** PGlite is one session, so that once is enough. */
async function useSchema(db: PGlite): Promise<void> {
  await db.exec(`SET search_path TO ${SCHEMA}`);
}
