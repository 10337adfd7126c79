import type { IndexLane, IndexPoint, Withdrawal } from '@slowwave/engine';
import { everyShardFor, type SpaceNames, shardsFor } from './collections.ts';
import { laneFilter, newerThanGone, notNewer } from './filters.ts';
import { byTenant, pointId, structOf, withdrawnStruct } from './points.ts';
import type { QdrantServer } from './server.ts';

/** One write holds its shard's lock: short ones let questions in between. */
const POINTS_PER_CALL = 256;
/** As text about 20 bytes each; the server refuses bodies above 32 MB. */
const NUMBERS_PER_CALL = 1_000_000;

interface Target {
  readonly names: SpaceNames;
  /** Name of a collection, or an alias. */
  readonly collection: string;
}

/** Writes the points that are not older than what is there, and waits until they can be found. */
export async function upsert(
  server: QdrantServer,
  { names, collection }: Target,
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
  { names, collection }: Target,
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
export async function forgetIn(server: QdrantServer, { names, collection }: Target, of: IndexLane): Promise<number> {
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
