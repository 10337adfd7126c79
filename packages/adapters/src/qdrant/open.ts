import { EngineError, type IndexQuery, type Log, type SearchIndex, type TenantId } from '@slowwave/engine';
import { checkVector } from '../check-vector.ts';
import { readMarker, stampMarker } from './build.ts';
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
import { tenantFilter } from './filters.ts';
import type { Place } from './points.ts';
import { pageOf, search, vectorsOf } from './search.ts';
import { connected, type QdrantOptions, type QdrantServer } from './server.ts';
import { clearCommon, isSharded, type Promoting, promote, shardsFor } from './shards.ts';
import { forgetLane, upsert, withdraw } from './write.ts';

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
