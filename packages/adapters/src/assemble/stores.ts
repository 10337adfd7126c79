import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Embedder, Ledger, Log, SearchIndex, VectorCache } from '@slowwave/engine';
import { pgliteConnection, postgresConnection, type QueueConnection, redisConnection } from '../bullmq/index.ts';
import type { Config } from '../config/index.ts';
import { countCommits } from '../metrics/index.ts';
import { type Shares, sharesOf } from '../postgres/shares.ts';
import { redisVectors } from '../query-cache/index.ts';
import { openSqliteIndex, openSqliteLedger, requireSameQueue } from '../sqlite/index.ts';
import { systemTools } from '../system/index.ts';
import type { Observer } from './observer.ts';

/** The ledger of the configuration. A server that is configured and not there is an error, never a file instead. */
export async function openLedger(config: Config, log: Log, { registry }: Pick<Observer, 'registry'>): Promise<Ledger> {
  const ledger = await ledgerOf(config, log);
  countCommits(registry, ledger);
  return ledger;
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

/** The index of the configuration. A server that is configured and not there is an error, never a file instead. */
export async function openIndex({ qdrant, dataDir }: Config, embedder: Embedder, log: Log): Promise<SearchIndex> {
  const { fingerprint, dimensions } = embedder;
  if (qdrant !== null) {
    const { openQdrantIndex } = await import('../qdrant/index.ts');
    return openQdrantIndex({ ...qdrant, alias: qdrant.index, fingerprint, dimensions, log });
  }
  await mkdir(dataDir, { recursive: true });
  return openSqliteIndex({ path: join(dataDir, 'index.db'), fingerprint, dimensions });
}

/** For one of several processes on a folder: another one must not work the same ledger from a queue of its own. */
export async function requireSharedFolder({ redisUrl, databaseUrl, dataDir }: Config): Promise<void> {
  if (databaseUrl === null && redisUrl !== null) await requireSameQueue(dataDir, redisUrl);
}

/** The queue of the configuration; in process only where one process does everything. */
export async function openQueue(config: Config, log: Log): Promise<QueueConnection> {
  const { redisUrl, databaseUrl, dataDir } = config;
  if (redisUrl !== null) return redisConnection(redisUrl);
  if (databaseUrl !== null)
    return postgresConnection({ url: databaseUrl, log, connections: connectionShares(config).queue });
  return pgliteConnection({ imagePath: join(dataDir, 'queue-image.tar'), log });
}

/** Of the maximum connections to PostgreSQL. */
export const connectionShares = ({ databaseConnections, redisUrl }: Config): Shares =>
  sharesOf(databaseConnections, redisUrl === null);

/** Vectors of questions that processes share; null: each has its own alone. */
export const openVectorCache = ({ redisUrl }: Config, log: Log): VectorCache | null =>
  redisUrl === null ? null : redisVectors(redisUrl, log);
