import type { Schemas } from '@qdrant/js-client-rest';
import { EngineError } from '@slowwave/engine';
import { indexFields } from './fields.ts';
import type { QdrantServer } from './server.ts';
import type { SpaceNames } from './space.ts';

/** How the vectors of a space are kept. */
export interface Keeping {
  readonly names: SpaceNames;
  readonly dimensions: number;
  /** Also as 8-bit numbers in memory, a quarter of the size; the best are ranked again by the whole ones. */
  readonly quantized: boolean;
  /** Whole vectors are read from disk instead of memory. */
  readonly onDisk: boolean;
}

/** Links per point inside the part of the graph that is one tenant's or owner's: the usual number. */
const LINKS = 16;

const INT8: Schemas['ScalarQuantization'] = { scalar: { type: 'int8', quantile: 0.99, always_ram: true } };

/** A collection of this name, ready to be filled; one that is there already is kept. Several may do it at once. */
export async function createCollection(server: QdrantServer, collection: string, keeping: Keeping): Promise<void> {
  const exists = async () => (await server.manage((client) => client.collectionExists(collection))).exists;
  if (!(await exists())) {
    try {
      await server.manage((client) => client.createCollection(collection, configOf(keeping)));
    } catch (error) {
      if (!(await exists())) throw error; // else another process was faster
    }
  }
  await fitCollection(server, collection, keeping);
}

export const dropCollection = (server: QdrantServer, collection: string): Promise<boolean> =>
  server.manage((client) => client.deleteCollection(collection));

/** Whether a collection (or what is behind an alias) holds vectors of this space. */
export async function isOfSpace(server: QdrantServer, collection: string, { dense }: SpaceNames): Promise<boolean> {
  const { config } = await server.manage((client) => client.getCollection(collection));
  return denseOf(config, dense) !== null;
}

/** Refuses a collection that cannot hold these vectors; gives it what it lacks of indexes and settings. */
export async function fitCollection(server: QdrantServer, collection: string, keeping: Keeping): Promise<void> {
  const { config, payload_schema } = await server.manage((client) => client.getCollection(collection));
  const dense = denseOf(config, keeping.names.dense);
  if (dense === null || dense.size !== keeping.dimensions) throw unfit({ server, collection, keeping }, dense);
  await indexFields(server, collection, payload_schema);
  const quantized = (config.quantization_config ?? null) !== null;
  if (quantized === keeping.quantized && (dense.on_disk ?? false) === keeping.onDisk) return;
  await server.manage((client) => client.updateCollection(collection, changesOf(keeping)));
}

function configOf({ names, dimensions, quantized, onDisk }: Keeping): Schemas['CreateCollection'] {
  return {
    vectors: { [names.dense]: { size: dimensions, distance: 'Cosine', on_disk: onDisk } },
    sparse_vectors: { [names.sparse]: { modifier: 'idf' }, [names.wide]: { modifier: 'idf' } },
    // No graph over everybody's points: nobody asks across owners, and it would cost the most.
    hnsw_config: { m: 0, payload_m: LINKS },
    ...(quantized ? { quantization_config: INT8 } : {}),
  };
}

const changesOf = ({ names, quantized, onDisk }: Keeping): Schemas['UpdateCollection'] => ({
  vectors: { [names.dense]: { on_disk: onDisk } },
  quantization_config: quantized ? INT8 : 'Disabled',
});

function denseOf({ params }: Schemas['CollectionConfig'], name: string): Schemas['VectorParams'] | null {
  const vectors = (params.vectors ?? {}) as Readonly<Record<string, Schemas['VectorParams']>>;
  return vectors[name] ?? null;
}

function unfit(
  { server, collection, keeping }: { server: QdrantServer; collection: string; keeping: Keeping },
  got: Schemas['VectorParams'] | null,
): EngineError {
  const found = got === null ? 'none of that name' : `${got.size} dimensions`;
  return new EngineError(
    `expected collection ${collection} at ${server.place} to have vectors ${keeping.names.dense} of ${keeping.dimensions} ` +
      `dimensions, got ${found}; delete the collection: it is rebuilt from the ledger`,
    { code: 'index_unavailable', retryable: false },
  );
}
