import {
  type BuildNote,
  EngineError,
  type IndexBuild,
  type IndexMarker,
  type IndexPoint,
  type LaneId,
} from '@slowwave/engine';
import { checkVector } from '../check-vector.ts';
import {
  besides,
  collectionBehind,
  createCollection,
  dropCollection,
  fitCollection,
  isOfSpace,
  type Keeping,
  pointAlias,
  type SpaceNames,
} from './collections.ts';
import { ANY_MEMORY } from './filters.ts';
import { serviceId } from './points.ts';
import { connected, type QdrantOptions, type QdrantServer } from './server.ts';
import { shardOfNotes } from './shards.ts';
import { forgetIn, upsert, withdraw } from './write.ts';

export interface QdrantBuildOptions extends QdrantOptions {
  /** The collection that was used before stays until somebody deletes it. */
  readonly keepOld?: boolean;
}

/** A new collection beside the one in use. It takes over by the alias. */
export async function openQdrantBuild(options: QdrantBuildOptions): Promise<IndexBuild & { close(): Promise<void> }> {
  const { server, keeping } = await connected(options);
  const { names } = keeping;
  let building: Building | null = null;
  const current = (): Building => {
    if (building === null) throw notBegun();
    return building;
  };
  return {
    begun: async (ledgerId) => {
      const found = await begun(server, keeping, ledgerId);
      building = found?.building ?? null;
      return found?.note ?? null;
    },
    begin: async (note) => {
      building = await begin(server, keeping, note);
    },
    write: async (points: readonly IndexPoint[]) => {
      for (const { vector } of points) checkVector(vector, keeping);
      await upsert(server, { names, collection: current().collection }, points);
    },
    forget: (of) => forgetIn(server, { names, collection: current().collection }, of),
    withdraw: (withdrawals) => withdraw(server, { names, collection: current().collection }, withdrawals),
    note: (note) => keep(server, { names, ...current() }, note),
    takeOver: () => pointAlias(server, names.alias, current().collection),
    finish: async (marker) => {
      const { collection, previous } = current();
      await noteMarker(server, { names, collection }, marker);
      await dropNote(server, { names, collection }, 'rebuild');
      if (options.keepOld !== true && previous !== null) await dropCollection(server, previous);
    },
    close: async () => server.close(),
  };
}

/** A new collection and the one that it takes over from. */
interface Building {
  readonly collection: string;
  readonly previous: string | null;
}

interface StoredNote {
  readonly ledger_id: string;
  readonly previous: string | null;
  readonly started_at: number;
  readonly after: string | null;
  readonly after_batch: string | null;
  readonly memories: number;
  readonly points: number;
  readonly by_words: readonly LaneId[];
}

/** A build that did not come to its end, before or after the move. */
async function begun(server: QdrantServer, keeping: Keeping, ledgerId: string) {
  for (const collection of keeping.names.collections) {
    const { exists } = await server.manage((client) => client.collectionExists(collection));
    const stored = exists ? ((await readNote(server, { collection }, 'rebuild')) as StoredNote | null) : null;
    if (stored?.ledger_id === ledgerId) {
      await fitCollection(server, collection, keeping);
      return { building: { collection, previous: stored.previous }, note: noteOf(stored) };
    }
  }
  return null;
}

async function begin(server: QdrantServer, keeping: Keeping, note: BuildNote): Promise<Building> {
  const previous = await collectionBehind(server, keeping.names.alias);
  const collection = besides(keeping.names, previous);
  await dropCollection(server, collection);
  await createCollection(server, { collection, previous }, keeping);
  await keep(server, { names: keeping.names, collection, previous }, note);
  return { collection, previous };
}

async function keep(
  server: QdrantServer,
  { names, collection, previous }: Building & Pick<Noted, 'names'>,
  note: BuildNote,
): Promise<void> {
  const { ledgerId, startedAt, after, afterBatch, memories, points, byWords = [] } = note;
  const stored: StoredNote = {
    ledger_id: ledgerId,
    previous,
    started_at: startedAt,
    after,
    after_batch: afterBatch,
    memories,
    points,
    by_words: byWords,
  };
  await writeNote(server, { names, collection }, { name: 'rebuild', note: stored });
}

const noteOf = ({ ledger_id, started_at, after, after_batch, by_words, ...counts }: StoredNote): BuildNote => ({
  ledgerId: ledger_id,
  startedAt: started_at,
  after,
  afterBatch: after_batch,
  memories: counts.memories,
  points: counts.points,
  byWords: by_words,
});

const notBegun = (): EngineError =>
  new EngineError('no new collection was begun; call `begun` or `begin` first', {
    code: 'internal',
    retryable: false,
  });

/** The marker as it is kept: with the name of the space, of which the fingerprint is only a part. */
interface Note {
  readonly ledger_id: string;
  readonly fingerprint: string;
  readonly space: string;
}

/** Whose projection the index is. A collection of another space always has a marker, one that fits nobody here. */
export async function readMarker(server: QdrantServer, names: SpaceNames): Promise<IndexMarker | null> {
  const note = (await readNote(server, { collection: names.alias }, 'marker')) as Note | null;
  if (note === null) return (await isOfSpace(server, names.alias, names)) ? null : UNKNOWN;
  const fingerprint = note.space === names.dense ? note.fingerprint : `${note.fingerprint} in the format ${note.space}`;
  return { ledgerId: note.ledger_id, fingerprint };
}

const UNKNOWN: IndexMarker = { ledgerId: 'unknown', fingerprint: 'unknown' };

/** Claims what is behind the alias for a ledger. */
export async function stampMarker(server: QdrantServer, names: SpaceNames, marker: IndexMarker): Promise<void> {
  if (!(await isOfSpace(server, names.alias, names))) throw taken(names.alias, 'vectors of another embedder');
  const before = await readMarker(server, names);
  if (before !== null && before.ledgerId !== marker.ledgerId && (await hasMemories(server, names.alias))) {
    throw taken(names.alias, `points of ledger ${before.ledgerId}`);
  }
  await noteMarker(server, { names, collection: names.alias }, marker);
}

/** Writes the marker of a collection that is known to be this ledger's. */
async function noteMarker(
  server: QdrantServer,
  { names, collection }: Noted,
  { ledgerId, fingerprint }: IndexMarker,
): Promise<void> {
  const note: Note = { ledger_id: ledgerId, fingerprint, space: names.dense };
  await writeNote(server, { names, collection }, { name: 'marker', note });
}

async function hasMemories(server: QdrantServer, collection: string): Promise<boolean> {
  const { count } = await server.call((client) => client.count(collection, { filter: ANY_MEMORY, exact: true }));
  return count > 0;
}

function taken(alias: string, got: string): EngineError {
  return new EngineError(`expected an empty index to stamp, got ${alias} on Qdrant with ${got}; clear it first`, {
    code: 'index_unavailable',
    retryable: false,
  });
}

/**
 * What a collection says of itself: points without vectors, owner and tenant, that no question finds. They are kept in
 * the collection they speak of and so are lost with it, never without it.
 */
type NoteName = 'marker' | 'rebuild';

/** Where such a point is. */
interface Noted {
  readonly names: SpaceNames;
  readonly collection: string;
}

async function readNote(
  server: QdrantServer,
  { collection }: Pick<Noted, 'collection'>,
  name: NoteName,
): Promise<unknown> {
  // In any shard: what is behind an alias may have been made with settings that shard otherwise.
  const request = { ids: [serviceId(name)], with_payload: true };
  const [found] = await server.call((client) => client.retrieve(collection, request));
  return found?.payload ?? null;
}

async function writeNote(
  server: QdrantServer,
  { names, collection }: Noted,
  { name, note }: { name: NoteName; note: object },
): Promise<void> {
  const points = [{ id: serviceId(name), vector: {}, payload: { ...note } }];
  await server.call((client) => client.upsert(collection, { ...shardOfNotes(names), wait: true, points }));
}

async function dropNote(server: QdrantServer, { names, collection }: Noted, name: NoteName): Promise<void> {
  const points = [serviceId(name)];
  await server.call((client) => client.delete(collection, { ...shardOfNotes(names), wait: true, points }));
}
