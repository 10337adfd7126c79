import { setTimeout as sleep } from 'node:timers/promises';
import type { BundledErasureList, BundledOwnerList, BundleLines, BundleView } from '@slowwave/contracts';
import type { z } from 'zod';
import { type Asking, pagesOf, withQuery } from '../api.ts';
import { CommandError, EXIT } from '../exit.ts';
import {
  ERASURES,
  fileOf,
  growingList,
  type Manifest,
  manifestIn,
  OWNERS,
  type OwnerEntry,
  removeFile,
  writeLines,
  writeManifest,
} from './folder.ts';

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
