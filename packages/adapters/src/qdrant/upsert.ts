import type { IndexPoint, Withdrawal } from '@slowwave/engine';
import { newerThanGone, notNewer } from './filters.ts';
import { pointId } from './keys.ts';
import { structOf } from './points.ts';
import type { QdrantServer } from './server.ts';
import type { SpaceNames } from './space.ts';

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
  for (const part of partsOf(newestOf(points))) {
    await server.call((client) =>
      client.upsert(collection, {
        wait: true,
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
  collection: string,
  withdrawals: readonly Withdrawal[],
): Promise<void> {
  for (let start = 0; start < withdrawals.length; start += POINTS_PER_CALL) {
    const part = newestOf(withdrawals.slice(start, start + POINTS_PER_CALL));
    await server.call((client) =>
      client.upsert(collection, {
        wait: true,
        points: part.map((point) => ({ id: pointId(point), vector: {}, payload: { revision: point.revision } })),
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

function partsOf(points: readonly IndexPoint[]): IndexPoint[][] {
  const dimensions = points[0]?.vector.length ?? 1;
  const size = Math.max(1, Math.min(POINTS_PER_CALL, Math.floor(NUMBERS_PER_CALL / dimensions)));
  return Array.from({ length: Math.ceil(points.length / size) }, (_, i) => points.slice(i * size, (i + 1) * size));
}

function idsByRevision(points: readonly Withdrawal[]): Map<number, string[]> {
  const ids = new Map<number, string[]>();
  for (const point of points) ids.set(point.revision, [...(ids.get(point.revision) ?? []), pointId(point)]);
  return ids;
}
