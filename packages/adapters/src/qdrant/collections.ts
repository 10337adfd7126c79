import type { Schemas } from '@qdrant/js-client-rest';
import { EngineError, TERMS_VERSION } from '@slowwave/engine';
import { hashOf, type Payload } from './points.ts';
import type { QdrantServer } from './server.ts';
import { addShardKeys, commonKeys, isSharded, ownShardKeys } from './shards.ts';

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

/**
 * A collection of this name, ready to be filled; one that is there already is kept. Several may do it at once. Tenants that have shards
 * of their own in the one that it takes over from have them here, too.
 */
export async function createCollection(
  server: QdrantServer,
  { collection, previous }: { readonly collection: string; readonly previous: string | null },
  keeping: Keeping,
): Promise<void> {
  const exists = async () => (await server.manage((client) => client.collectionExists(collection))).exists;
  if (!(await exists())) {
    try {
      await server.manage((client) => client.createCollection(collection, configOf(keeping)));
    } catch (error) {
      if (!(await exists())) throw error; // else another process was faster
    }
  }
  if (isSharded(keeping.names)) {
    const before = previous === null ? [] : await ownShardKeys(server, previous);
    await addShardKeys(server, collection, [...commonKeys(keeping.names), ...before]);
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
  await indexFields(server, collection, { names: keeping.names, known: payload_schema });
  const quantized = (config.quantization_config ?? null) !== null;
  if (quantized === keeping.quantized && (dense.on_disk ?? false) === keeping.onDisk) return;
  await server.manage((client) => client.updateCollection(collection, changesOf(keeping)));
}

function configOf({ names, dimensions, quantized, onDisk }: Keeping): Schemas['CreateCollection'] {
  return {
    ...(isSharded(names) ? { sharding_method: 'custom', shard_number: 1 } : {}),
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

type IndexSchema = Schemas['PayloadSchemaParams'];

const TENANT: IndexSchema = { type: 'keyword', is_tenant: true };
const KEYWORD: IndexSchema = { type: 'keyword', enable_hnsw: false };
const NUMBER: IndexSchema = { type: 'integer', lookup: false, range: true, enable_hnsw: false };

/** Every field that filters. Graphs are built for owners and tenants alone: the others never come without an owner. */
const FIELDS: Readonly<Record<Exclude<keyof Payload, 'point' | 'home'>, IndexSchema>> = {
  owner: TENANT,
  tenant: TENANT,
  agent: KEYWORD,
  run: KEYWORD,
  app: KEYWORD,
  told_last: KEYWORD,
  live: { type: 'bool', enable_hnsw: false },
  said_at: NUMBER,
  said_seq: NUMBER,
  valid_from: NUMBER,
  held_from: NUMBER,
  shown_from: NUMBER,
  invalid_at: NUMBER,
  expires_at: NUMBER,
  deleted_at: NUMBER,
  deleted_seq: NUMBER,
  revision: NUMBER,
  created_at: NUMBER,
  updated_at: NUMBER,
  confirmations: NUMBER,
  has: KEYWORD,
};

/**
 * Makes the payload indexes a collection does not have yet; to be done before it is filled, for graphs follow them. All at once: each
 * waits for the cluster to agree.
 */
async function indexFields(
  server: QdrantServer,
  collection: string,
  { names, known }: { readonly names: SpaceNames; readonly known: object },
): Promise<void> {
  const fields = isSharded(names) ? { ...FIELDS, home: KEYWORD } : FIELDS;
  const missing = Object.entries(fields).filter(([field_name]) => !(field_name in known));
  const index = ([field_name, field_schema]: (typeof missing)[number]) =>
    server.manage((client) => client.createPayloadIndex(collection, { field_name, field_schema, wait: true }));
  await Promise.all(missing.map(index));
}

/** The collection behind an alias; null: there is no such alias. */
export async function collectionBehind(server: QdrantServer, alias: string): Promise<string | null> {
  const { aliases } = await server.manage((client) => client.getAliases());
  return aliases.find(({ alias_name }) => alias_name === alias)?.collection_name ?? null;
}

/** From one moment to the next, everybody who uses the alias is with this collection. */
export async function pointAlias(server: QdrantServer, alias: string, collection: string): Promise<void> {
  const actions = [
    { delete_alias: { alias_name: alias } },
    { create_alias: { alias_name: alias, collection_name: collection } },
  ];
  await server.manage((client) => client.updateCollectionAliases({ actions }));
}

/** Goes up with every change of payload, weights or ids: points of two formats are never mixed. */
const FORMAT = 7;

/** What a collection is made for. */
interface QdrantSpace {
  /** The name by which everybody knows the index, whichever collection is behind it. */
  readonly alias: string;
  readonly dimensions: number;
  readonly fingerprint: string;
  readonly shards: number;
}

/** The names that follow from a space. */
export interface SpaceNames {
  readonly alias: string;
  /** Two names for collections of the same space: one is built while the other is in use. */
  readonly collections: readonly [string, string];
  /** Names its space, so that the server itself refuses vectors and questions of another one. */
  readonly dense: string;
  /** Words of the texts alone, and of what they came from, too. */
  readonly sparse: string;
  readonly wide: string;
  /** Over so many common shards tenants are spread that have none of their own; 0: the server shards as it does by itself. */
  readonly shards: number;
}

export function namesOf({ alias, dimensions, fingerprint, shards }: QdrantSpace): SpaceNames {
  const made = [FORMAT, fingerprint, dimensions, TERMS_VERSION, ...(shards > 0 ? ['shards', shards] : [])];
  const key = hashOf(made).slice(0, 12);
  const first = `${alias}_${key}_t${TERMS_VERSION}`;
  const collections = [first, `${first}_b`] as const;
  return { alias, collections, dense: `dense_${key}`, sparse: 'terms', wide: 'wide_terms', shards };
}

/** The collection of this space that is not the given one. */
export const besides = ({ collections: [first, second] }: SpaceNames, current: string | null): string =>
  current === first ? second : first;
