import type { IndexPage, IndexPageRequest, Millis } from '@slowwave/engine';
import { checkVector } from '../vectors/check-vector.ts';
import { collectionBehind, pointAlias } from './alias.ts';
import { createCollection, dropCollection, fitCollection, type Keeping } from './collections.ts';
import { noteMarker } from './marker.ts';
import { dropNote, readNote, writeNote } from './notes.ts';
import { connected, type QdrantOptions } from './options.ts';
import type { QdrantServer } from './server.ts';
import { besides } from './space.ts';
import { upsert } from './upsert.ts';

export interface RebuildProgress {
  /** all: every memory, once; changes: those changed meanwhile; last changes: those changed until everybody moved. */
  readonly pass: 'all' | 'changes' | 'last changes';
  /** Points written since the rebuild began, also by an earlier try. */
  readonly points: number;
  readonly last: string | null;
}

export interface RebuildOptions extends QdrantOptions {
  readonly ledgerId: string;
  readonly now: () => Millis;
  /** Reads the ledger: `indexPage` of the engine. */
  readonly page: (request: IndexPageRequest) => Promise<IndexPage>;
  readonly onProgress?: (progress: RebuildProgress) => void;
  /** The collection that was used before is deleted at the end; else it stays until somebody deletes it. */
  readonly dropOld?: boolean;
}

export interface Rebuilt {
  readonly collection: string;
  /** What the alias pointed to before. */
  readonly previous: string | null;
  readonly points: number;
  /** It went on where an earlier try had stopped. */
  readonly resumed: boolean;
}

/** Small enough that little is done again after a stop. */
const MEMORIES_PER_PAGE = 200;
/** Clocks of processes that write to one ledger may be this far apart. */
const CLOCKS_APART_MS = 300_000;

/**
 * Builds the index anew from the ledger beside the one in use, then moves the alias. Stopped anywhere, it goes on there:
 *
 *   all           every memory, page by page; the place is noted in the new collection after each page
 *   changes       what was changed since the beginning, so that little is left to do after the move
 *   move          the alias; whoever has another embedder is refused from here on, and waits
 *   last changes  what was written to the old collection while `changes` ran
 *   stamp         only now the new collection is believed
 */
export async function rebuildQdrant(options: RebuildOptions): Promise<Rebuilt> {
  const { server, keeping } = await connected(options);
  try {
    const build = (await begun(server, keeping, options)) ?? (await begin(server, keeping, options));
    const walk = (pass: Pass) => walkLedger({ server, keeping, options }, build, pass);
    await walk({ pass: 'all', changedSince: null });
    const changesFrom = options.now();
    await walk({ pass: 'changes', changedSince: build.note.started_at - CLOCKS_APART_MS });
    await pointAlias(server, keeping.names.alias, build.collection);
    await walk({ pass: 'last changes', changedSince: changesFrom - CLOCKS_APART_MS });
    return await finish({ server, keeping, options }, build);
  } finally {
    server.close();
  }
}

/** How far a rebuild is, as the new collection itself keeps it. */
interface Note {
  readonly ledger_id: string;
  readonly previous: string | null;
  readonly started_at: Millis;
  readonly after: string | null;
  readonly points: number;
}

interface Build {
  readonly collection: string;
  readonly resumed: boolean;
  note: Note;
}

interface Rebuilding {
  readonly server: QdrantServer;
  readonly keeping: Keeping;
  readonly options: RebuildOptions;
}

interface Pass {
  readonly pass: RebuildProgress['pass'];
  readonly changedSince: Millis | null;
}

/** A rebuild for this ledger that did not come to its end, before or after the move. */
async function begun(server: QdrantServer, keeping: Keeping, { ledgerId }: RebuildOptions): Promise<Build | null> {
  for (const collection of keeping.names.collections) {
    const { exists } = await server.manage((client) => client.collectionExists(collection));
    const note = exists ? ((await readNote(server, collection, 'rebuild')) as Note | null) : null;
    if (note?.ledger_id === ledgerId) {
      await fitCollection(server, collection, keeping);
      return { collection, resumed: true, note };
    }
  }
  return null;
}

async function begin(server: QdrantServer, keeping: Keeping, { ledgerId, now }: RebuildOptions): Promise<Build> {
  const previous = await collectionBehind(server, keeping.names.alias);
  const collection = besides(keeping.names, previous);
  const note: Note = { ledger_id: ledgerId, previous, started_at: now(), after: null, points: 0 };
  await dropCollection(server, collection);
  await createCollection(server, collection, keeping);
  await writeNote(server, collection, { name: 'rebuild', note });
  return { collection, resumed: false, note };
}

/** One walk through the ledger. The place is noted only while every memory is written: the others are walked again. */
async function walkLedger({ server, keeping, options }: Rebuilding, build: Build, walk: Pass): Promise<void> {
  const whole = walk.pass === 'all';
  let after = whole ? build.note.after : null;
  for (;;) {
    const { points, last } = await options.page({ after, limit: MEMORIES_PER_PAGE, changedSince: walk.changedSince });
    for (const { vector } of points) checkVector(vector, keeping);
    await upsert(server, { names: keeping.names, collection: build.collection }, points);
    const written = build.note.points + points.length;
    build.note = { ...build.note, points: written, after: whole ? (last ?? after) : build.note.after };
    if (whole) await writeNote(server, build.collection, { name: 'rebuild', note: build.note });
    options.onProgress?.({ pass: walk.pass, points: written, last });
    if (last === null) return;
    after = last;
  }
}

async function finish(
  { server, keeping, options }: Rebuilding,
  { collection, resumed, note }: Build,
): Promise<Rebuilt> {
  const { previous, points } = note;
  await noteMarker(server, { names: keeping.names, collection }, options);
  await dropNote(server, collection, 'rebuild');
  if (options.dropOld === true && previous !== null) await dropCollection(server, previous);
  return { collection, previous, points, resumed };
}
