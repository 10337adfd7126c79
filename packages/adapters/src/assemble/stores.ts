import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import {
  currentMove,
  type Embedder,
  EngineError,
  type IndexBuild,
  type Ledger,
  type Log,
  type ModelStore,
  MoveRefusedError,
  type Rebuilding,
  type Rebuilt,
  rebuildIndex,
  type SearchIndex,
  type StoredLedger,
  type TenantId,
  type VectorCache,
} from '@slowwave/engine';
import { memoryConnection, postgresConnection, type QueueConnection, redisConnection } from '../bullmq/index.ts';
import type { Config } from '../config/index.ts';
import { countCommits } from '../metrics.ts';
import { redisVectors } from '../redis.ts';
import { openSqliteBuild, openSqliteIndex, openSqliteLedger, requireSameQueue } from '../sqlite/index.ts';
import { systemTools } from '../system/system.ts';
import type { Observer } from './observer.ts';
import { engineSettings } from './settings.ts';

/** The ledger of the configuration. A server that is configured and not there is an error, never a file instead. */
export async function openLedger(
  config: Config,
  log: Log,
  { registry }: Pick<Observer, 'registry'>,
): Promise<StoredLedger> {
  const ledger = await ledgerOf(config, log);
  countCommits(registry, ledger);
  return ledger;
}

/** What the ledger knows of models, for who changes nothing. Where there is none yet, or it does not answer, nothing is known. */
export async function openKnownModels(
  config: Config,
  log: Log,
): Promise<Pick<ModelStore, 'get'> & { close(): Promise<void> }> {
  const ledger = await knownLedger(config, log).catch(() => null);
  return {
    get: async (name) => (await ledger?.models.get(name)) ?? null,
    close: async () => ledger?.close(),
  };
}

async function knownLedger(config: Config, log: Log): Promise<Ledger> {
  if (config.databaseUrl !== null) return ledgerOf(config, log);
  return openSqliteLedger({ path: join(config.dataDir, 'ledger.db'), tools: systemTools, readOnly: true });
}

async function ledgerOf(config: Config, log: Log) {
  const { databaseUrl, dataDir } = config;
  if (databaseUrl !== null) {
    const { openPostgresLedger } = await import('../postgres/index.ts');
    const shares = connectionShares(config);
    log.info({ ...shares, sum: config.databaseConnections }, 'maximum connections to PostgreSQL');
    return openPostgresLedger({ url: databaseUrl, connections: shares.ledger, tools: systemTools, log });
  }
  await mkdir(dataDir, { recursive: true });
  return openSqliteLedger({ path: join(dataDir, 'ledger.db'), tools: systemTools });
}

/** An index that was moved has changed its place with the next one. */
export type IndexPlace = 1 | 2;

export const otherPlace = (place: IndexPlace): IndexPlace => (place === 1 ? 2 : 1);

/** Which embedder's index is at the second place; null: none is. */
type Moved = { readonly fingerprint: string } | null;

const MOVED = 'index at the second place';

export const movedIndex = async (models: Pick<ModelStore, 'get'>): Promise<Moved> => (await models.get(MOVED)) as Moved;

/** Noted when a move is confirmed. Of one to the first place nothing is: the second is still that of the embedder it had. */
export async function keepPlace(models: ModelStore, fingerprint: string, place: IndexPlace): Promise<void> {
  if (place === 2) await models.put(MOVED, { fingerprint });
}

/** While the server of a model is away, its name has to do. */
export const placeBy =
  (moved: Moved) =>
  (fingerprint: string): IndexPlace => {
    const named = fingerprint.endsWith(UNKNOWN) ? fingerprint.slice(0, -UNKNOWN.length + 1) : null;
    const isMoved = named === null ? moved?.fingerprint === fingerprint : moved?.fingerprint.startsWith(named);
    return isMoved ? 2 : 1;
  };

const UNKNOWN = ':unknown';

const fileAt = (dataDir: string, place: IndexPlace): string => join(dataDir, place === 1 ? 'index.db' : 'index-2.db');
const aliasAt = (index: string, place: IndexPlace): string => (place === 1 ? index : `${index}-2`);
const schemaAt = (place: IndexPlace): string => (place === 1 ? 'slowwave_index' : 'slowwave_index_2');

type At = Pick<Embedder, 'fingerprint' | 'dimensions'> & { readonly place: IndexPlace };

/** The index of the configuration. A server that is configured and not there is an error, never a file instead. */
export async function openIndex(
  config: Config,
  { fingerprint, dimensions, place }: At,
  log: Log,
): Promise<SearchIndex> {
  const { qdrant, dataDir } = config;
  const database = indexDatabase(config);
  if (database !== null) {
    const { openPostgresIndex } = await import('../postgres/index.ts');
    return openPostgresIndex({ ...database, schema: schemaAt(place), fingerprint, dimensions, log });
  }
  if (qdrant !== null) {
    const { openQdrantIndex } = await import('../qdrant/open.ts');
    return openQdrantIndex({ ...qdrant, alias: aliasAt(qdrant.index, place), fingerprint, dimensions, log });
  }
  await mkdir(dataDir, { recursive: true });
  return openSqliteIndex({ path: fileAt(dataDir, place), fingerprint, dimensions });
}

/** null: the index is elsewhere. */
function indexDatabase(config: Config): { readonly url: string; readonly connections: number } | null {
  const { indexInDatabase, databaseUrl } = config;
  if (!indexInDatabase || databaseUrl === null) return null;
  return { url: databaseUrl, connections: connectionShares(config).index };
}

/** For one of several processes on a folder: another one must not work the same ledger from a queue of its own. */
export async function requireSharedFolder({ redisUrl, databaseUrl, dataDir }: Config): Promise<void> {
  if (databaseUrl === null && redisUrl !== null) await requireSameQueue(dataDir, redisUrl);
}

/** The queue of the configuration; in memory only where one process does everything. */
export async function openQueue(config: Config, log: Log): Promise<QueueConnection> {
  const { redisUrl, redisNodes: nodes, databaseUrl, queueShards: shards } = config;
  if (redisUrl !== null) return redisConnection(redisUrl, { nodes, shards });
  if (databaseUrl !== null)
    return postgresConnection({ url: databaseUrl, log, connections: connectionShares(config).queue, shards });
  return memoryConnection();
}

/** Of the maximum connections to PostgreSQL. */
export const connectionShares = ({ databaseConnections, redisUrl, indexInDatabase, nextEmbedding }: Config): Shares => {
  const queue = redisUrl === null;
  if (!indexInDatabase) return sharesOf(databaseConnections, { queue, indexes: 0 });
  return sharesOf(databaseConnections, { queue, indexes: nextEmbedding === null ? 1 : 2 });
};

/** Vectors of questions that processes share; null: each has its own alone. */
export const openVectorCache = ({ redisUrl, redisNodes }: Config, log: Log): VectorCache | null =>
  redisUrl === null ? null : redisVectors(redisUrl, log, redisNodes);

interface Parts {
  readonly ledger: Ledger;
  readonly embedder: Embedder;
  readonly log: Log;
}

/** `keepOld`: a collection on Qdrant that was used before stays until somebody deletes it. */
type Wishes = Rebuilding & { readonly keepOld: boolean };

/**
 * Builds the index of the configuration anew from the ledger, beside the one in use. Stopped and started again, it goes on. Not
 * while the index is moved: whoever moves it fills another one.
 */
export async function rebuildOwnIndex(config: Config, parts: Parts, wishes: Wishes): Promise<Rebuilt> {
  const move = await currentMove(parts);
  if (move !== null && !move.cleaned) throw new MoveRefusedError(UNDER_WAY);
  const place = placeBy(await movedIndex(parts.ledger.models))(parts.embedder.fingerprint);
  const build = await openBuild(config, { ...parts, place }, wishes);
  try {
    return await rebuildIndex({ ...parts, tools: systemTools, settings: engineSettings(config) }, build, wishes);
  } finally {
    await build.close();
  }
}

const UNDER_WAY = 'the index is being moved to another embedding model; confirm or abandon the move first';

async function openBuild(
  config: Config,
  { embedder, log, place }: Parts & { readonly place: IndexPlace },
  { keepOld }: Wishes,
): Promise<IndexBuild & { close(): Promise<void> }> {
  const { qdrant, dataDir } = config;
  const { fingerprint, dimensions } = embedder;
  const database = indexDatabase(config);
  if (database !== null) {
    const { openPostgresBuild } = await import('../postgres/index.ts');
    return openPostgresBuild({ ...database, schema: schemaAt(place), fingerprint, dimensions, log });
  }
  if (qdrant === null) return openSqliteBuild({ path: fileAt(dataDir, place), fingerprint, dimensions });
  const { openQdrantBuild } = await import('../qdrant/open.ts');
  return openQdrantBuild({ ...qdrant, alias: aliasAt(qdrant.index, place), fingerprint, dimensions, log, keepOld });
}

interface Promoting {
  readonly cancel: AbortSignal;
  /** How many points are in the new shard. */
  onProgress(points: number): void;
}

/** Gives a tenant a shard of its own on Qdrant. false: it had one. */
export async function promoteTenant(
  config: Config,
  { ledger, embedder, log }: Parts,
  { tenant, ...promoting }: Promoting & { readonly tenant: TenantId },
): Promise<boolean> {
  const { qdrant } = config;
  if (qdrant === null) throw notOnQdrant();
  const { fingerprint, dimensions } = embedder;
  const place = placeBy(await movedIndex(ledger.models))(fingerprint);
  const { promoteOnQdrant } = await import('../qdrant/open.ts');
  const options = { ...qdrant, alias: aliasAt(qdrant.index, place), fingerprint, dimensions, log };
  return promoteOnQdrant(options, tenant, promoting);
}

const notOnQdrant = (): EngineError =>
  new EngineError('only an index on Qdrant has shards for tenants; set QDRANT_URL', {
    code: 'index_unavailable',
    retryable: false,
  });

/** What is open until it is closed. */
interface Open {
  close(): Promise<unknown>;
}

/** Waits for things that are opened at the same time: all of them are open then, or, when one cannot be, none. */
export async function openAll<const O extends readonly Promise<Open>[]>(
  opening: O,
): Promise<{ -readonly [I in keyof O]: Awaited<O[I]> }> {
  try {
    return await Promise.all(opening);
  } catch (error) {
    await Promise.all(
      opening.map((one) =>
        one.then(
          (open) => open.close().catch(() => {}), // what is wrong is known already
          () => {},
        ),
      ),
    );
    throw error;
  }
}

/** Waits for something that needs what is open already, which is closed when it cannot be opened. */
export async function openOn<T>(opened: readonly Open[], opening: Promise<T>): Promise<T> {
  try {
    return await opening;
  } catch (error) {
    for (const one of opened) await one.close().catch(() => {});
    throw error;
  }
}

/** How many connections each part of a process may hold at most; together no more than the process. */
interface Shares {
  readonly ledger: number;
  readonly queue: number;
  readonly limits: number;
  /** Of each index: while one moves there are two. */
  readonly index: number;
}

/** A step of the limiter takes a millisecond: more would only wait for each other's locks. */
const LIMITS_MAX = 4;
const LIMITS_PART = 6;
/** Four workers listen on one each, for as long as they run; the others ask. */
const QUEUE_MIN = 7;

/** What else than the ledger is in the database. */
interface Beside {
  readonly queue: boolean;
  readonly indexes: 0 | 1 | 2;
}

/** What the queue and its limits leave is the ledger's, or half of it where the index is there, too. */
export function sharesOf(connections: number, { queue: queueIsHere, indexes }: Beside): Shares {
  const limits = queueIsHere ? Math.min(LIMITS_MAX, Math.floor(connections / LIMITS_PART)) : 0;
  const queue = queueIsHere ? Math.max(QUEUE_MIN, Math.floor((connections - limits) / 2)) : 0;
  const left = connections - limits - queue;
  const index = indexes === 0 ? 0 : Math.max(1, Math.floor(left / (2 * indexes)));
  return { ledger: Math.max(1, left - index * indexes), queue, limits, index };
}
