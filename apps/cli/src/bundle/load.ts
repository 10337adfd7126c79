import { setTimeout as sleep } from 'node:timers/promises';
import type { BundleLines, ImportView, TakenErasures, TakenSettings } from '@slowwave/contracts';
import type { z } from 'zod';
import { type Asking, pagesOf } from '../api.ts';
import { CommandError } from '../exit.ts';
import { ERASURES, linesIn, type Manifest, type OwnerEntry, ownersIn } from './folder.ts';

interface Loading {
  readonly folder: string;
  readonly manifest: Manifest;
  readonly tenant: string;
  /** Only this one; null: all. */
  readonly only: { readonly kind: string; readonly id: string } | null;
  readonly cancel: AbortSignal;
  readonly onLines: (done: number) => void;
}

/** An owner that could not be imported. */
interface Left {
  readonly kind: string;
  readonly id: string;
  readonly code: string;
  readonly message: string;
}

export interface Loaded {
  /** Owners that are here now and were not before. */
  readonly imported: number;
  /** Those that were the same here already. */
  readonly known: number;
  readonly left: readonly Left[];
}

/** Imports the owners of a bundle, and goes on where an earlier run was. */
export async function load(asking: Asking, loading: Loading): Promise<Loaded> {
  const { folder, manifest, only, cancel, onLines } = loading;
  let [imported, known, done] = [0, 0, 0];
  const left: Left[] = [];
  for await (const entry of ownersIn(folder, manifest.owners)) {
    cancel.throwIfAborted();
    if (only !== null && (only.kind !== entry.kind || only.id !== entry.id)) continue;
    const before = done;
    const ended = await loadOwner(asking, { ...loading, entry, onLines: (lines) => onLines(before + lines) });
    if (ended === 'imported') imported += 1;
    else if (ended === 'known') known += 1;
    else left.push(ended);
    done += entry.lines;
    onLines(done);
  }
  return { imported, known, left };
}

interface LoadingOwner extends Loading {
  readonly entry: OwnerEntry;
}

/** What one owner of a bundle cannot be imported for; the others can. */
const REFUSED = ['owner_exists', 'owner_erased'];

async function loadOwner(asking: Asking, loading: LoadingOwner): Promise<'imported' | 'known' | Left> {
  const { kind, id } = loading.entry;
  try {
    const begun = await begunWhenFree(asking, loading);
    if (begun.state === 'finished') return 'known';
    await sendLines(asking, loading, begun);
    await asking.ask('POST', `/v1/bundle/imports/${begun.import_id}/finish`);
    return 'imported';
  } catch (error) {
    if (!(error instanceof CommandError) || !REFUSED.includes(error.code)) throw error;
    if (error.code === 'owner_exists' && (await isSameHere(asking, loading))) return 'known';
    return { kind, id, code: error.code, message: error.message };
  }
}

/** Rows of the owner that were here before take some seconds to go. */
const FREE_WITHIN_MS = 60_000;
const LOOK_EVERY_MS = 1_000;

async function begunWhenFree(asking: Asking, loading: LoadingOwner): Promise<ImportView> {
  for (const deadline = Date.now() + FREE_WITHIN_MS; ; ) {
    try {
      return await begin(asking, loading);
    } catch (error) {
      const isBusy = error instanceof CommandError && error.code === 'owner_busy';
      if (!isBusy || Date.now() > deadline) throw error;
      await sleep(LOOK_EVERY_MS, undefined, { signal: loading.cancel });
    }
  }
}

function begin({ ask }: Asking, { entry, manifest, tenant }: LoadingOwner): Promise<ImportView> {
  const { kind, id, read_at, lines, last_sum: sum } = entry;
  const { format, ledger_id } = manifest;
  return ask('POST', '/v1/bundle/imports', { tenant, format, ledger_id, kind, id, read_at, lines, sum });
}

const sumsOf = ({ lines, last_sum: sum }: OwnerEntry) => ({ lines, sum });

/** As many as are sent at a time. */
const LINES_AT_ONCE = 2_000;
const CHARACTERS_AT_ONCE = 1_000_000;

/** Sends the lines that are not taken yet; those before are read, too: each is checked by the one before it. */
async function sendLines(
  { ask }: Asking,
  { folder, entry, cancel, onLines }: LoadingOwner,
  begun: ImportView,
): Promise<void> {
  let [taken, characters] = [begun.taken, 0];
  let waiting: string[] = [];
  const send = async (): Promise<void> => {
    cancel.throwIfAborted();
    const from = taken;
    const state = await ask<ImportView>('POST', `/v1/bundle/imports/${begun.import_id}/lines`, {
      from,
      lines: waiting,
    });
    taken += waiting.length;
    if (state.taken !== taken)
      throw new Error(`expected ${taken} lines to be imported by now, got ${state.taken}; run the command again`);
    [waiting, characters] = [[], 0];
    onLines(taken);
  };
  for await (const { line, number } of linesIn(folder, entry.file, sumsOf(entry))) {
    if (number <= taken) continue;
    waiting.push(line);
    characters += line.length;
    if (waiting.length === LINES_AT_ONCE || characters > CHARACTERS_AT_ONCE) await send();
  }
  if (waiting.length > 0) await send();
}

/** Whether the owner that is here is that of the bundle: vectors and what was asked since are no difference. */
async function isSameHere(asking: Asking, { entry, tenant }: LoadingOwner): Promise<boolean> {
  const { kind, id, state } = entry;
  let last = '';
  for await (const { lines } of pagesOf<BundleLines>(asking, '/v1/bundle/lines', { tenant, kind, id })) {
    last = lines.at(-1) ?? last;
  }
  return state !== null && (JSON.parse(last) as { state: string | null }).state === state;
}

const ERASURES_AT_ONCE = 500;

/** What was erased there is not to come back here by an older bundle. Before all owners. */
export async function loadErasures({ ask }: Asking, { folder, manifest, tenant }: Loading): Promise<void> {
  let erasures: unknown[] = [];
  const send = async (): Promise<void> => {
    if (erasures.length > 0)
      await ask<z.infer<typeof TakenErasures>>('POST', '/v1/bundle/erasures', { tenant, erasures });
    erasures = [];
  };
  if (manifest.erasures.lines === 0) return;
  for await (const { text } of linesIn(folder, ERASURES, manifest.erasures)) {
    erasures.push(JSON.parse(text));
    if (erasures.length === ERASURES_AT_ONCE) await send();
  }
  await send();
}

export const loadSettings = (
  { ask }: Asking,
  { manifest, tenant, replace }: Pick<Loading, 'manifest' | 'tenant'> & { readonly replace: boolean },
): Promise<TakenSettings> => ask('PUT', '/v1/bundle/settings', { tenant, settings: manifest.settings, replace });

/** Reads all of a bundle and throws where it is damaged. */
export async function check({ folder, manifest, cancel, onLines }: Omit<Loading, 'tenant' | 'only'>): Promise<void> {
  let done = 0;
  for await (const entry of ownersIn(folder, manifest.owners)) {
    for await (const { number } of linesIn(folder, entry.file, sumsOf(entry))) {
      cancel.throwIfAborted();
      onLines(done + number);
    }
    done += entry.lines;
  }
  if (manifest.erasures.lines === 0) return;
  for await (const _ of linesIn(folder, ERASURES, manifest.erasures)) cancel.throwIfAborted();
}
