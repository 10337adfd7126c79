import { type BuildNote, EngineError, type IndexBuild, type IndexPoint, type LaneId } from '@slowwave/engine';
import { checkVector } from '../check-vector.ts';
import {
  besides,
  collectionBehind,
  createCollection,
  dropCollection,
  fitCollection,
  type Keeping,
  pointAlias,
} from './collections.ts';
import { dropNote, noteMarker, readNote, writeNote } from './notes.ts';
import { connected, type QdrantOptions, type QdrantServer } from './server.ts';
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
    forget: (of) => forgetIn(server, current().collection, of),
    withdraw: (withdrawals) => withdraw(server, current().collection, withdrawals),
    note: (note) => keep(server, current(), note),
    takeOver: () => pointAlias(server, names.alias, current().collection),
    finish: async (marker) => {
      const { collection, previous } = current();
      await noteMarker(server, { names, collection }, marker);
      await dropNote(server, collection, 'rebuild');
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
    const stored = exists ? ((await readNote(server, collection, 'rebuild')) as StoredNote | null) : null;
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
  await createCollection(server, collection, keeping);
  await keep(server, { collection, previous }, note);
  return { collection, previous };
}

async function keep(server: QdrantServer, { collection, previous }: Building, note: BuildNote): Promise<void> {
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
  await writeNote(server, collection, { name: 'rebuild', note: stored });
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
