import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { mkdir, open, rename, rm, stat, statfs } from 'node:fs/promises';
import { join } from 'node:path';
import { holdFile } from '../sqlite/lock-folder.ts';
import type { PublishedFile } from './known.ts';

/** So many bytes of so many are there. */
export type OnProgress = (done: number, total: number) => void;

interface Download {
  readonly files: readonly PublishedFile[];
  readonly folder: string;
  /** The address that the files' own are below. */
  readonly hub: string;
  readonly onProgress: OnProgress;
  readonly signal: AbortSignal;
}

/**
 * Brings files into a folder, each under its name only once it is whole and the right one. What was interrupted goes on where
 * it was.
 */
export async function download(wanted: Download): Promise<void> {
  await mkdir(wanted.folder, { recursive: true });
  const held = holdFile(join(wanted.folder, 'download.lock'));
  if ('heldBy' in held) throw new Error(`process ${held.heldBy} is downloading it`);
  try {
    await downloadMissing(wanted);
  } finally {
    held.close();
  }
}

async function downloadMissing({ files, folder, hub, onProgress, signal }: Download): Promise<void> {
  const missing = await missingOf(files, folder);
  const total = missing.reduce((sum, { bytes }) => sum + bytes, 0);
  let before = 0;
  await requireSpace(missing, folder);
  onProgress(0, total); // a server may take its time to begin
  for (const file of missing) {
    const here = before;
    const url = new URL(file.from, hub.endsWith('/') ? hub : `${hub}/`);
    await fetchFile({ file, url, path: join(folder, file.name), signal }, (done) => onProgress(here + done, total));
    before += file.bytes;
  }
}

/** The files that are not there as they were published. */
export async function missingOf(files: readonly PublishedFile[], folder: string): Promise<readonly PublishedFile[]> {
  const there = await Promise.all(files.map((file) => isThere(file, join(folder, file.name))));
  return files.filter((_, i) => there[i] !== true);
}

async function isThere({ bytes, sha256 }: PublishedFile, path: string): Promise<boolean> {
  return (await sizeOf(path)) === bytes && (await sha256Of(path)) === sha256;
}

/** 0 where there is none. */
const sizeOf = (path: string): Promise<number> =>
  stat(path).then(
    ({ size }) => size,
    () => 0,
  );

const partOf = (path: string): string => `${path}.part`;
const MEGABYTE = 1_000_000;

async function requireSpace(files: readonly PublishedFile[], folder: string): Promise<void> {
  const parts = await Promise.all(files.map(({ name }) => sizeOf(partOf(join(folder, name)))));
  const needed = files.reduce((sum, { bytes }) => sum + bytes, 0) - parts.reduce((sum, size) => sum + size, 0);
  const { bavail, bsize } = await statfs(folder);
  if (needed <= bavail * bsize) return;
  const free = Math.floor((bavail * bsize) / MEGABYTE);
  throw new Error(
    `${folder} needs ${Math.ceil(needed / MEGABYTE)} MB for it and has ${free} MB free; free some space, or move SLOWWAVE_DATA_DIR`,
  );
}

interface Fetching {
  readonly file: PublishedFile;
  readonly url: URL;
  readonly path: string;
  readonly signal: AbortSignal;
}

async function fetchFile(fetching: Fetching, onProgress: (done: number) => void): Promise<void> {
  const { file, url, path } = fetching;
  const part = partOf(path);
  await append(fetching, part, onProgress);
  const sha256 = (await sizeOf(part)) === file.bytes ? await sha256Of(part) : 'another length';
  if (sha256 !== file.sha256) {
    await rm(part, { force: true });
    throw new Error(
      `expected ${url} to have the SHA-256 checksum ${file.sha256}, got ${sha256}; it was discarded. ` +
        'Check SLOWWAVE_MODEL_HUB_URL, or put the files into a folder yourself and name that',
    );
  }
  await rename(part, path);
}

/** A server that says nothing for so long is asked again later. */
const SILENT_MS = 60_000;

/** Appends what a part lacks. A server that does not send the rest alone sends everything, and the part begins anew. */
async function append(
  { file, url, signal }: Fetching,
  part: string,
  onProgress: (done: number) => void,
): Promise<void> {
  const had = await sizeOf(part);
  if (had === file.bytes) return;
  const silence = silenceOf(SILENT_MS);
  try {
    const response = await fetch(url, {
      headers: had > 0 ? { range: `bytes=${had}-` } : {},
      signal: AbortSignal.any([signal, silence.signal]),
    });
    const rest = response.status === 206 && had > 0;
    if (!response.ok || response.body === null) {
      await rm(part, { force: true }); // it may be what the server does not like
      throw new Error(`expected ${url} to send the file, got status ${response.status}`);
    }
    const handle = await open(part, rest ? 'a' : 'w');
    let done = rest ? had : 0;
    try {
      for await (const chunk of response.body) {
        silence.broken();
        done += chunk.byteLength;
        if (done > file.bytes) break; // not the file that was published
        await handle.write(chunk);
        onProgress(done);
      }
      await handle.sync();
    } finally {
      await handle.close();
    }
    if (done > file.bytes) await rm(part, { force: true });
  } finally {
    silence.over();
  }
}

/** A signal that is aborted when nothing has broken the silence for so long. */
function silenceOf(ms: number) {
  const abort = new AbortController();
  const timer = setTimeout(() => abort.abort(new Error(`it sent nothing for ${ms / 1000} s`)), ms);
  return { signal: abort.signal, broken: () => void timer.refresh(), over: () => clearTimeout(timer) };
}

/** Files of a hundred megabytes are read in pieces between which others have their turn. */
const PIECE_BYTES = 1024 * 1024;

export async function sha256Of(path: string): Promise<string> {
  const hash = createHash('sha256');
  for await (const piece of createReadStream(path, { highWaterMark: PIECE_BYTES })) hash.update(piece);
  return hash.digest('hex');
}
