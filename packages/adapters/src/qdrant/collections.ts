import { setTimeout as sleep } from 'node:timers/promises';
import type { Schemas } from '@qdrant/js-client-rest';
import { EngineError, TERMS_VERSION, type TenantId } from '@slowwave/engine';
import { hashOf, type Payload, shardKey } from './points.ts';
import type { QdrantServer } from './server.ts';

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

type Sharding = Pick<SpaceNames, 'shards'>;
type Selector = { readonly shard_key?: Schemas['ShardKeySelector'] };

/** Whether tenants can have shards of their own. A collection is made with that or without. */
export const isSharded = ({ shards }: Sharding): boolean => shards > 0;

/** The server copies between keys of one shard each: what is spread over several has several keys. */
const commonKey = (number: number): string => `common-${number}`;

export const commonKeys = ({ shards }: Sharding): readonly string[] =>
  Array.from({ length: shards }, (_, number) => commonKey(number));

const isCommon = (key: string): boolean => key.startsWith('common-');

/** The common one of a tenant: always the same. */
const commonOf = ({ shards }: Sharding, tenant: TenantId): string =>
  commonKey(Number.parseInt(shardKey(tenant).slice(0, 8), 16) % shards);

/** Where a tenant's points are: the server knows, for all processes at once, whether it has a shard of its own. */
export const shardsFor = (names: Sharding, tenant: TenantId): Selector =>
  isSharded(names) ? { shard_key: { target: shardKey(tenant), fallback: commonOf(names, tenant) } } : {};

/** Where what belongs to no tenant is. */
export const shardOfNotes = (names: Sharding): Selector => (isSharded(names) ? { shard_key: commonKey(0) } : {});

/** Everywhere where a tenant's points may be: some are still in the common shard when it has just got its own. */
export const everyShardFor = (names: Sharding, tenant: TenantId): readonly Selector[] =>
  isSharded(names) ? [shardsFor(names, tenant), { shard_key: commonOf(names, tenant) }] : [{}];

interface Replica {
  readonly key: string;
  readonly state: Schemas['ReplicaState'];
}

async function replicasOf(server: QdrantServer, collection: string): Promise<readonly Replica[]> {
  const info = await server.manage((client) => client.collectionClusterInfo(collection));
  return [...info.local_shards, ...info.remote_shards].flatMap(({ shard_key: key, state }) =>
    typeof key === 'string' ? [{ key, state }] : [],
  );
}

const isActive = (all: readonly Replica[], wanted: string): boolean =>
  all.some(({ key, state }) => key === wanted && state === 'Active');

/** The keys of tenants who have a shard of their own. Those that are still being filled are not among them. */
async function ownShardKeys(server: QdrantServer, collection: string): Promise<readonly string[]> {
  const all = await replicasOf(server, collection);
  return [...new Set(all.map(({ key }) => key))].filter((key) => !isCommon(key) && isActive(all, key));
}

/** Makes a shard for each of these keys, where there is none. Several may do it at once. */
async function addShardKeys(server: QdrantServer, collection: string, keys: readonly string[]): Promise<void> {
  for (const shard_key of keys) await addShardKey(server, collection, { shard_key });
}

type ShardKey = { readonly shard_key: string; readonly initial_state?: Schemas['ReplicaState'] };

async function addShardKey(server: QdrantServer, collection: string, made: ShardKey): Promise<void> {
  const exists = async () => (await replicasOf(server, collection)).some(({ key }) => key === made.shard_key);
  if (await exists()) return;
  try {
    // From a key with several copies the server does not fill another one; a cluster can add copies later.
    const request = {
      ...made,
      shards_number: 1,
      ...(made.initial_state === undefined ? {} : { replication_factor: 1 }),
    };
    await server.manage((client) => client.createShardKey(collection, request));
  } catch (error) {
    if (!(await exists())) throw error; // else another process was faster
  }
}

/** What a call is about. */
export interface Where {
  readonly names: SpaceNames;
  /** Its name, or an alias. */
  readonly collection: string;
}

const ofHome = (key: string): Schemas['Filter'] => ({ must: [{ key: 'home', match: { value: key } }] });

/**
 * Deletes from the common shards what tenants have in their own, where no question finds it any more. Nothing is deleted of which the new
 * shard has less: the keys of these tenants are the answer.
 */
export async function clearCommon(server: QdrantServer, { names, collection }: Where): Promise<readonly string[]> {
  const shard_key = [...commonKeys(names)];
  const unsafe: string[] = [];
  for (const key of await ownShardKeys(server, collection)) {
    const filter = ofHome(key);
    const countIn = async (shards: string | string[]): Promise<number> =>
      (await server.call((client) => client.count(collection, { shard_key: shards, filter, exact: true }))).count;
    const left = await countIn(shard_key);
    if (left === 0) continue;
    if ((await countIn(key)) < left) unsafe.push(key);
    else await server.manage((client) => client.delete(collection, { shard_key, filter, wait: true }));
  }
  return unsafe;
}

const POLL_MS = 250;
/** A transfer that failed is begun again; what fails more often does not fail by chance. */
const TRANSFERS_MAX = 5;

export interface Promoting {
  readonly cancel: AbortSignal;
  /** How many points are in the new shard, as far as this server has it. */
  onProgress(points: number): void;
}

/**
 * Gives a tenant a shard of its own, while everything goes on: the server copies its points and what is written to them meanwhile, answers
 * from the common shard until the last one is there, and from then on from the new one. One that was interrupted goes on.
 * false: it had one already.
 */
export async function promote(
  server: QdrantServer,
  { names, collection, tenant }: Where & { readonly tenant: TenantId },
  { cancel, onProgress }: Promoting,
): Promise<boolean> {
  const key = shardKey(tenant);
  const isThere = async (): Promise<boolean> => isActive(await replicasOf(server, collection), key);
  const had = await isThere();
  if (!had) await addShardKey(server, collection, { shard_key: key, initial_state: 'Partial' });
  const replicate_points = { filter: ofHome(key), from_shard_key: commonOf(names, tenant), to_shard_key: key };
  for (let transfers = 0; !(await isThere()); ) {
    cancel.throwIfAborted();
    const { shard_transfers, local_shards } = await server.manage((client) => client.collectionClusterInfo(collection));
    onProgress(local_shards.find(({ shard_key }) => shard_key === key)?.points_count ?? 0);
    if (shard_transfers.length === 0 && !(await isThere())) {
      if (transfers === TRANSFERS_MAX) throw notFilled(server, collection, `${TRANSFERS_MAX} transfers that did not`);
      transfers += 1;
      await server.manage((client) => client.updateCollectionCluster(collection, { replicate_points }));
    }
    await sleep(POLL_MS);
  }
  const unsafe = await clearCommon(server, { names, collection });
  if (unsafe.includes(key)) throw notFilled(server, collection, 'fewer points in it than there were before');
  return !had;
}

const notFilled = (server: QdrantServer, collection: string, got: string): EngineError =>
  new EngineError(
    `expected Qdrant at ${server.place} to fill a shard of ${collection}, got ${got}; see its log, then promote again`,
    { code: 'index_unavailable', retryable: true },
  );
