import { setTimeout as sleep } from 'node:timers/promises';
import type { Schemas } from '@qdrant/js-client-rest';
import { EngineError, type TenantId } from '@slowwave/engine';
import type { SpaceNames } from './collections.ts';
import { shardKey } from './points.ts';
import type { QdrantServer } from './server.ts';

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
export async function ownShardKeys(server: QdrantServer, collection: string): Promise<readonly string[]> {
  const all = await replicasOf(server, collection);
  return [...new Set(all.map(({ key }) => key))].filter((key) => !isCommon(key) && isActive(all, key));
}

/** Makes a shard for each of these keys, where there is none. Several may do it at once. */
export async function addShardKeys(server: QdrantServer, collection: string, keys: readonly string[]): Promise<void> {
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

interface Where {
  readonly names: SpaceNames;
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
