import {
  type BuildNote,
  EngineError,
  type IndexBuild,
  type IndexLane,
  type IndexMarker,
  type IndexPoint,
  type IndexQuery,
  type LaneId,
  type Log,
  type SearchIndex,
  type TenantId,
  type Withdrawal,
} from '@slowwave/engine';
import { checkVector } from '../index-point.ts';
import {
  besides,
  clearCommon,
  collectionBehind,
  createCollection,
  dropCollection,
  everyShardFor,
  fitCollection,
  isOfSpace,
  isSharded,
  type Keeping,
  type Promoting,
  pointAlias,
  promote,
  type SpaceNames,
  shardOfNotes,
  shardsFor,
  type Where,
} from './collections.ts';
import { ANY_MEMORY, laneFilter, newerThanGone, notNewer, tenantFilter } from './filters.ts';
import { byTenant, type Place, pointId, serviceId, structOf, withdrawnStruct } from './points.ts';
import { pageOf, search, vectorsOf } from './search.ts';
import { connected, type QdrantOptions, type QdrantServer } from './server.ts';

/**
 * A search index on a Qdrant server, for any number of processes. Everything goes through one alias, so that a rebuilt
 * collection takes over from one moment to the next. Makes collection and alias if there are none.
 */
export async function openQdrantIndex(options: QdrantOptions): Promise<SearchIndex> {
  const { server, keeping, abilities } = await connected(options);
  const { names, quantized } = keeping;
  const asking = { names, quantized, tenantStatistics: abilities.tenantStatistics };
  await prepare(server, keeping, options.log);
  if (!abilities.tenantStatistics) options.log.info({ index: names.alias }, COMMON_STATISTICS);
  const check = ({ vector }: Pick<IndexQuery, 'vector'>): void => {
    if (vector !== null) checkVector(vector, options);
  };
  return {
    marker: () => readMarker(server, names),
    stamp: (marker) => stampMarker(server, names, marker),
    upsert: async (points) => {
      points.forEach(check);
      await upsert(server, { names, collection: names.alias }, points);
    },
    withdraw: (withdrawals) => withdraw(server, { names, collection: names.alias }, withdrawals),
    search: async (queries) => {
      queries.forEach(check);
      return search(server, asking, queries);
    },
    vectors: (points) => vectorsOf(server, names, points),
    forget: (of) => forgetLane(server, names, of),
    compact: async () => ({ done: true, remains: [REMAINS] }),
    clear: () => clear(server, keeping),
    count: (tenant, shelf = 'memories') => countOf(server, names, { tenant, shelf }),
    page: (after, limit) => pageOf(server, names.alias, { after, limit }),
    close: async () => server.close(),
  };
}

/** Gives a tenant a shard of its own in the index that is in use. false: it had one. */
export async function promoteOnQdrant(
  options: QdrantOptions,
  tenant: TenantId,
  promoting: Promoting,
): Promise<boolean> {
  const { server, keeping } = await connected(options);
  const { names } = keeping;
  if (!isSharded(names)) throw refusedToPromote('SLOWWAVE_QDRANT_SHARDS is not set; set it, and rebuild the index');
  const collection = await collectionBehind(server, names.alias);
  if (collection === null || !(await isOfSpace(server, collection, names)))
    throw refusedToPromote('the index does not match these settings; rebuild it first');
  try {
    return await promote(server, { names, collection, tenant }, promoting);
  } finally {
    server.close();
  }
}

const refusedToPromote = (got: string): EngineError =>
  new EngineError(`expected an index on Qdrant with shards for tenants, got: ${got}`, {
    code: 'index_unavailable',
    retryable: false,
  });

/** The server gives no way to ask for it, short of filling another collection. */
const REMAINS =
  'Qdrant: deleted points stay in its segments until it merges them or the index is rebuilt; no search finds them';

const COMMON_STATISTICS =
  'this Qdrant counts how rare a word is across all tenants; from version 1.19 it counts per tenant';

/** An index of another space is left as it is: it is rebuilt or cleared on purpose, not by opening. */
async function prepare(server: QdrantServer, keeping: Keeping, log: Log): Promise<void> {
  const { names } = keeping;
  const current = await collectionBehind(server, names.alias);
  if (current === null) {
    const [first] = names.collections;
    await createCollection(server, { collection: first, previous: null }, keeping);
    await pointAlias(server, names.alias, first);
  } else if (await isOfSpace(server, current, names)) {
    await fitCollection(server, current, keeping);
    if (isSharded(names)) await clearCommon(server, { names, collection: current });
  } else {
    log.warn(
      { index: names.alias, collection: current },
      'the index on Qdrant was built with another embedding model or release',
    );
  }
}

/** A new collection takes over before the old one goes: whoever searches meanwhile finds nothing, and no failure. */
async function clear(server: QdrantServer, keeping: Keeping): Promise<void> {
  const { names } = keeping;
  const current = await collectionBehind(server, names.alias);
  const fresh = besides(names, current);
  await dropCollection(server, fresh);
  await createCollection(server, { collection: fresh, previous: current }, keeping);
  await pointAlias(server, names.alias, fresh);
  if (current !== null) await dropCollection(server, current);
}

async function countOf(server: QdrantServer, names: SpaceNames, place: Place): Promise<number> {
  const request = { ...shardsFor(names, place.tenant), filter: tenantFilter(place), exact: true };
  const { count } = await server.call((client) => client.count(names.alias, request));
  return count;
}

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
  { names, collection, previous }: Building & Pick<Where, 'names'>,
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
  new EngineError('no new collection was started; call `begun` or `begin` first', {
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
async function readMarker(server: QdrantServer, names: SpaceNames): Promise<IndexMarker | null> {
  const note = (await readNote(server, { collection: names.alias }, 'marker')) as Note | null;
  if (note === null) return (await isOfSpace(server, names.alias, names)) ? null : UNKNOWN;
  const fingerprint = note.space === names.dense ? note.fingerprint : `${note.fingerprint} in the format ${note.space}`;
  return { ledgerId: note.ledger_id, fingerprint };
}

const UNKNOWN: IndexMarker = { ledgerId: 'unknown', fingerprint: 'unknown' };

/** Claims what is behind the alias for a ledger. */
async function stampMarker(server: QdrantServer, names: SpaceNames, marker: IndexMarker): Promise<void> {
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
  { names, collection }: Where,
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

async function readNote(
  server: QdrantServer,
  { collection }: Pick<Where, 'collection'>,
  name: NoteName,
): Promise<unknown> {
  // In any shard: what is behind an alias may have been made with settings that shard otherwise.
  const request = { ids: [serviceId(name)], with_payload: true };
  const [found] = await server.call((client) => client.retrieve(collection, request));
  return found?.payload ?? null;
}

async function writeNote(
  server: QdrantServer,
  { names, collection }: Where,
  { name, note }: { name: NoteName; note: object },
): Promise<void> {
  const points = [{ id: serviceId(name), vector: {}, payload: { ...note } }];
  await server.call((client) => client.upsert(collection, { ...shardOfNotes(names), wait: true, points }));
}

async function dropNote(server: QdrantServer, { names, collection }: Where, name: NoteName): Promise<void> {
  const points = [serviceId(name)];
  await server.call((client) => client.delete(collection, { ...shardOfNotes(names), wait: true, points }));
}

/** One write holds its shard's lock: short ones let questions in between. */
const POINTS_PER_CALL = 256;
/** As text about 20 bytes each; the server refuses bodies above 32 MB. */
const NUMBERS_PER_CALL = 1_000_000;

/** Writes the points that are not older than what is there, and waits until they can be found. */
export async function upsert(
  server: QdrantServer,
  { names, collection }: Where,
  points: readonly IndexPoint[],
): Promise<void> {
  for (const { tenant, part } of partsOf(newestOf(points))) {
    await server.call((client) =>
      client.upsert(collection, {
        wait: true,
        ...shardsFor(names, tenant),
        points: part.map((point) => structOf(point, names)),
        // Decided by the server while it writes, so that nobody comes in between. New points are written in any case.
        update_filter: newerThanGone(idsByRevision(part)),
      }),
    );
  }
}

/**
 * Leaves of these points nothing but their revision, by which an older write is known: without owner, tenant and vector
 * no question finds them.
 */
export async function withdraw(
  server: QdrantServer,
  { names, collection }: Where,
  withdrawals: readonly Withdrawal[],
): Promise<void> {
  for (const { tenant, part } of partsOf(newestOf(withdrawals))) {
    await server.call((client) =>
      client.upsert(collection, {
        wait: true,
        ...shardsFor(names, tenant),
        points: part.map((point) => withdrawnStruct(point, names)),
        update_filter: notNewer(idsByRevision(part)),
      }),
    );
  }
}

/** One of each id: within one write the server would keep the last, whatever its revision. */
function newestOf<T extends Withdrawal>(points: readonly T[]): T[] {
  const newest = new Map<string, T>();
  for (const point of points) {
    const id = pointId(point);
    if ((newest.get(id)?.revision ?? 0) <= point.revision) newest.set(id, point);
  }
  return [...newest.values()];
}

/** Of one tenant each. */
function partsOf<T extends Withdrawal & { readonly vector?: Float32Array }>(points: readonly T[]) {
  const dimensions = points[0]?.vector?.length ?? 1;
  const size = Math.max(1, Math.min(POINTS_PER_CALL, Math.floor(NUMBERS_PER_CALL / dimensions)));
  return [...byTenant(points)].flatMap(([tenant, all]) =>
    Array.from({ length: Math.ceil(all.length / size) }, (_, i) => ({
      tenant,
      part: all.slice(i * size, (i + 1) * size),
    })),
  );
}

function idsByRevision(points: readonly Withdrawal[]): Map<number, string[]> {
  const ids = new Map<number, string[]>();
  for (const point of points) ids.set(point.revision, [...(ids.get(point.revision) ?? []), pointId(point)]);
  return ids;
}

/** Deletes a lane's points wherever they are: a collection that is just being built anew may have them, too. */
export async function forgetLane(server: QdrantServer, names: SpaceNames, of: IndexLane): Promise<number> {
  const collections = new Set([names.alias]);
  for (const collection of names.collections) {
    const { exists } = await server.manage((client) => client.collectionExists(collection));
    if (exists) collections.add(collection);
  }
  let gone = 0;
  for (const collection of collections) gone += await forgetIn(server, { names, collection }, of);
  return gone;
}

/** Deletes a lane's points in one collection, page by page, wherever they may lie. */
export async function forgetIn(server: QdrantServer, { names, collection }: Where, of: IndexLane): Promise<number> {
  let gone = 0;
  for (const shards of everyShardFor(names, of.tenant)) {
    const filter = laneFilter(of);
    for (;;) {
      const { points } = await server.call((client) =>
        client.scroll(collection, { ...shards, filter, with_payload: false, limit: POINTS_PER_CALL }),
      );
      if (points.length === 0) break;
      const ids = points.map(({ id }) => id);
      await server.call((client) => client.delete(collection, { ...shards, wait: true, points: ids }));
      gone += points.length;
    }
  }
  return gone;
}
