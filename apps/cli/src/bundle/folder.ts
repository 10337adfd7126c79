import { createHash } from 'node:crypto';
import { createReadStream, createWriteStream } from 'node:fs';
import { appendFile, mkdir, readFile, rename, rm, truncate, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { createGunzip, createGzip } from 'node:zlib';
import type { BundledErasureList, BundledOwnerList, BundleLines, BundleView } from '@slowwave/contracts';
import { BUNDLE_FORMAT, FIRST_SUM, opened, sealed } from '@slowwave/engine/storing';
import { z } from 'zod';
import { type Asking, pagesOf, withQuery } from '../api.ts';
import { CommandError, EXIT } from '../exit.ts';

// A bundle is a folder; docs/bundle.md describes its files.

const MANIFEST = 'manifest.json';
const OWNERS = 'owners.jsonl';
export const ERASURES = 'erasures.jsonl';

/** As Tools has it. */
const hash = (text: string): string => createHash('sha256').update(text).digest('hex');

/** How many lines a file has, and the checksum of the last. */
const Sums = z.object({ lines: z.int(), sum: z.string() });

const Manifest = z.object({
  format: z.int(),
  ledger_id: z.string(),
  tenant: z.string(),
  made_at: z.string(),
  settings: z.record(z.string(), z.unknown()),
  /** Of what the owners have, all together. */
  lines: z.int(),
  owners: Sums,
  erasures: Sums,
});
export type Manifest = z.infer<typeof Manifest>;

const OwnerEntry = z.object({
  kind: z.enum(['user', 'agent', 'run']),
  id: z.string(),
  file: z.string().regex(/^owners\/\d+\/\d+\.jsonl\.gz$/),
  read_at: z.string(),
  lines: z.int(),
  /** The checksum of the last of them: the line itself has one, too. */
  last_sum: z.string(),
  /** The checksum before what can be derived: equal for owners that are the same. */
  state: z.string().nullable(),
});
export type OwnerEntry = z.infer<typeof OwnerEntry>;

/** A manifest is written last: without one the bundle is not complete. null: there is none. */
export async function manifestIn(folder: string): Promise<Manifest | null> {
  const text = await readFile(join(folder, MANIFEST), 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return null;
    throw error;
  });
  if (text === null) return null;
  const value = parsed(text);
  const { format } = z.object({ format: z.int() }).safeParse(value).data ?? {};
  if (format !== undefined && format > BUNDLE_FORMAT) {
    const message = `expected a bundle of format ${BUNDLE_FORMAT} or older in ${folder}, got format ${format}; use a newer release`;
    throw new CommandError(message, EXIT.failed);
  }
  const read = Manifest.safeParse(value);
  if (!read.success) throw damaged(MANIFEST, z.prettifyError(read.error).replaceAll('\n', ' '));
  return read.data;
}

/** What the owners of a bundle are, one after the other. */
export async function* ownersIn(folder: string, sums: z.infer<typeof Sums> | null): AsyncGenerator<OwnerEntry> {
  for await (const { text, number } of linesIn(folder, OWNERS, sums)) yield ownerIn(text, `${OWNERS}, line ${number}`);
}

function ownerIn(text: string, where: string): OwnerEntry {
  const read = OwnerEntry.safeParse(parsed(text));
  if (!read.success) throw damaged(where, z.prettifyError(read.error).replaceAll('\n', ' '));
  return read.data;
}

/** A line of a file that is whole, from the first on. */
interface WholeLine {
  readonly line: string;
  readonly text: string;
  readonly sum: string;
  /** From 1. */
  readonly number: number;
}

/** The lines of a file one after the other, each checked against the one before. `sums`: what the last has to be. */
export async function* linesIn(
  folder: string,
  file: string,
  sums: z.infer<typeof Sums> | null,
): AsyncGenerator<WholeLine> {
  let [number, sum] = [0, FIRST_SUM];
  for await (const line of rawLines(folder, file)) {
    number += 1;
    const read = opened(hash, sum, line);
    if (read.kind === 'damaged')
      throw damaged(`${file}, line ${number}`, `expected checksum ${read.expected}, got ${read.got}`);
    sum = read.sum;
    yield { line, number, text: read.text, sum };
  }
  if (sums !== null && (number !== sums.lines || sum !== sums.sum)) {
    throw damaged(file, `expected ${sums.lines} lines that end with checksum ${sums.sum}, got ${number} and ${sum}`);
  }
}

async function* rawLines(folder: string, file: string): AsyncGenerator<string> {
  const bytes = createReadStream(join(folder, file));
  const text = file.endsWith('.gz') ? bytes.pipe(createGunzip()) : bytes;
  // An error of the file does not reach what it is piped to.
  bytes.once('error', (error) => text.destroy(error));
  let number = 0;
  try {
    for await (const line of createInterface({ input: text, crlfDelay: Number.POSITIVE_INFINITY })) {
      number += 1;
      yield line;
    }
  } catch (error) {
    throw damaged(file, `after line ${number}: ${error instanceof Error ? error.message : String(error)}`);
  } finally {
    bytes.destroy();
  }
}

const damaged = (where: string, what: string): CommandError =>
  new CommandError(`the bundle is damaged: ${where}: ${what}; export it again, or restore it from a copy`, EXIT.failed);

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

// Writing one.

type Owner = z.infer<typeof BundledOwnerList>['results'][number];

interface Saving {
  readonly folder: string;
  readonly tenant: string;
  /** Only this one; null: all. */
  readonly only: Owner | null;
  readonly cancel: AbortSignal;
  /** How many owners are written, of how many that are known of. */
  readonly onOwner: (done: number, known: number) => void;
}

/** Writes a bundle into a folder; what an earlier run has written of it stays. */
export async function save(asking: Asking, saving: Saving): Promise<Manifest> {
  const { folder, tenant } = saving;
  if ((await manifestIn(folder)) !== null) {
    throw new CommandError(`${folder} already contains a complete bundle; choose another folder`, EXIT.failed);
  }
  const { format, ledger_id, settings } = await asking.ask<BundleView>('GET', withQuery('/v1/bundle', { tenant }));
  const owners = await saveOwners(asking, saving);
  if (owners.owners.lines === 0) throw new CommandError('there are no owners to export', EXIT.notFound);
  const erasures = await saveErasures(asking, saving);
  const made_at = new Date().toISOString();
  const manifest: Manifest = { format, ledger_id, tenant, made_at, settings: { ...settings }, ...owners, erasures };
  await writeManifest(folder, manifest);
  return manifest;
}

async function saveOwners(asking: Asking, saving: Saving): Promise<Pick<Manifest, 'owners' | 'lines'>> {
  const { folder, tenant, cancel, onOwner } = saving;
  const list = await growingList(folder, OWNERS);
  const written = list.texts.map((text) => JSON.parse(text) as OwnerEntry);
  const known = new Set(written.map(nameOf));
  let lines = written.reduce((sum, entry) => sum + entry.lines, 0);
  for await (const { owner, seen } of ownersOf(asking, saving)) {
    cancel.throwIfAborted();
    if (!known.has(nameOf(owner))) {
      const entry = await saveOwner(asking, { folder, tenant, owner, file: fileOf(list.sums().lines), cancel });
      if (entry !== null) await list.add(entry);
      lines += entry?.lines ?? 0;
    }
    onOwner(list.sums().lines, Math.max(seen, list.sums().lines));
  }
  return { owners: list.sums(), lines };
}

const nameOf = ({ kind, id }: Owner): string => `${kind} ${id}`;

/** Every owner, with how many are known of so far. */
async function* ownersOf(asking: Asking, { tenant, only }: Saving): AsyncGenerator<{ owner: Owner; seen: number }> {
  if (only !== null) {
    yield { owner: only, seen: 1 };
    return;
  }
  let seen = 0;
  for await (const { results } of pagesOf<z.infer<typeof BundledOwnerList>>(asking, '/v1/bundle/owners', { tenant })) {
    seen += results.length;
    for (const owner of results) yield { owner, seen };
  }
}

interface Writing {
  readonly folder: string;
  readonly tenant: string;
  readonly owner: Owner;
  readonly file: string;
  readonly cancel: AbortSignal;
}

/** An owner to whom something is written all the time would be read for ever. */
const TRIES = 8;
const PAUSE_MS = 250;

/** Writes an owner as of one moment; null: there is none any more. */
async function saveOwner(asking: Asking, writing: Writing): Promise<OwnerEntry | null> {
  const { folder, file, owner, cancel } = writing;
  for (let tries = 1; ; tries += 1) {
    const read = { read_at: '', lines: 0, last: '' };
    try {
      await writeLines(folder, file, noted(linesOf(asking, writing), read));
      const { sum, state } = JSON.parse(read.last) as { sum: string; state: string | null };
      return { ...owner, file, read_at: read.read_at, lines: read.lines, last_sum: sum, state };
    } catch (error) {
      await removeFile(folder, `${file}.part`);
      if (!(error instanceof CommandError)) throw error;
      if (error.exitCode === EXIT.notFound) return null;
      if (error.code !== 'conflict' || tries === TRIES) throw error;
      await sleep(PAUSE_MS * tries, null, { signal: cancel });
    }
  }
}

interface Page {
  readonly read_at: string;
  readonly lines: readonly string[];
}

async function* linesOf(asking: Asking, { tenant, owner, cancel }: Writing): AsyncGenerator<Page> {
  cancel.throwIfAborted();
  for await (const page of pagesOf<BundleLines>(asking, '/v1/bundle/lines', { tenant, ...owner })) {
    yield page;
    cancel.throwIfAborted();
  }
}

/** The lines of pages, and what is to be known of them. */
async function* noted(pages: AsyncIterable<Page>, read: { read_at: string; lines: number; last: string }) {
  for await (const { read_at, lines } of pages) {
    if (read.read_at === '') read.read_at = read_at;
    read.lines += lines.length;
    read.last = lines.at(-1) ?? read.last;
    yield* lines;
  }
}

/** Erasures of all owners: they say nothing of any to who does not know them. */
async function saveErasures(asking: Asking, { folder, tenant }: Saving): Promise<Manifest['erasures']> {
  await removeFile(folder, ERASURES);
  const list = await growingList(folder, ERASURES);
  const pages = pagesOf<z.infer<typeof BundledErasureList>>(asking, '/v1/bundle/erasures', { tenant });
  for await (const { results } of pages) for (const erasure of results) await list.add(erasure);
  // A list without lines is a file, too.
  return list.sums();
}

/** A list that grows line by line, and of which a last line that is torn is dropped when it is opened again. */
async function growingList(folder: string, file: string) {
  const path = join(folder, file);
  await mkdir(folder, { recursive: true });
  let [sum, lines] = [FIRST_SUM, 0];
  const texts: string[] = [];
  const before = await readFile(path, 'utf8').catch(() => '');
  let kept = 0;
  for (const line of before.split('\n').slice(0, -1)) {
    const read = opened(hash, sum, line);
    if (read.kind === 'damaged') break;
    [sum, lines] = [read.sum, lines + 1];
    kept += Buffer.byteLength(line) + 1;
    texts.push(read.text);
  }
  if (before !== '') await truncate(path, kept);
  return {
    /** What was there when it was opened. */
    texts,
    sums: () => ({ lines, sum }),
    add: async (value: object): Promise<void> => {
      const next = sealed(hash, sum, JSON.stringify(value));
      await appendFile(path, `${next.line}\n`);
      [sum, lines] = [next.sum, lines + 1];
    },
  };
}

/** Files of a folder: more would make it slow to list. */
const FILES_PER_FOLDER = 1_000;

const fileOf = (number: number): string =>
  `owners/${String(Math.floor(number / FILES_PER_FOLDER)).padStart(3, '0')}/${String(number).padStart(6, '0')}.jsonl.gz`;

const writeLines = (folder: string, file: string, lines: AsyncIterable<string>): Promise<void> =>
  atomically(join(folder, file), async (path) => {
    await pipeline(Readable.from(withEnds(lines)), createGzip(), createWriteStream(path));
  });

async function* withEnds(lines: AsyncIterable<string>): AsyncGenerator<string> {
  for await (const line of lines) yield `${line}\n`;
}

const writeManifest = (folder: string, manifest: Manifest): Promise<void> =>
  atomically(join(folder, MANIFEST), (path) => writeFile(path, `${JSON.stringify(manifest, null, 2)}\n`));

/** A file is there as a whole or not at all. */
async function atomically(path: string, write: (path: string) => Promise<void>): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  await write(`${path}.part`);
  await rename(`${path}.part`, path);
}

const removeFile = (folder: string, file: string): Promise<void> => rm(join(folder, file), { force: true });
