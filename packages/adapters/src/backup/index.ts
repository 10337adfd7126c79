import { mkdir, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Config } from '../config/index.ts';
import { lockFolder } from '../sqlite/index.ts';
import { systemTools } from '../system/system.ts';
import {
  type CopySegments,
  copySegments,
  type Manifest,
  type OnBytes,
  PRIVATE_FOLDER,
  type RestoredLedger,
  readManifest,
  refused,
  requirePlace,
  restoreSegments,
} from './manifest.ts';
import { backUpPostgres, restorePostgres } from './postgres.ts';
import { backUpSqlite, restoreSqlite } from './sqlite.ts';

export type { Manifest } from './manifest.ts';

interface How {
  readonly cancel: AbortSignal;
  readonly onBytes: OnBytes;
}

/** The ledger of the configuration as it is now, in a new folder. Servers go on meanwhile. */
export async function backUp(config: Config, folder: string, { cancel, onBytes }: How): Promise<Manifest> {
  await requireEmpty(folder);
  const segments: CopySegments = (names) => copySegments(config, folder, names);
  const how = { folder, tools: systemTools, cancel, copySegments: segments };
  try {
    if (config.databaseUrl !== null) return await backUpPostgres({ ...how, url: config.databaseUrl });
    return await backUpSqlite({ ...how, path: ledgerPath(config), onBytes });
  } catch (error) {
    for (const name of await readdir(folder)) await rm(join(folder, name), { recursive: true, force: true });
    throw error;
  }
}

export interface Restored {
  readonly manifest: Manifest;
  /** The ledger's new name: what was made of its former state is not believed. */
  readonly ledgerId: string;
  /** Of owners that sleep: they are not where SLOWWAVE_COLD_STORE says. */
  readonly missing: readonly string[];
}

/** Puts a backup in the place of the configuration's ledger. No server may run; index and queue follow when one starts. */
export async function restore(
  config: Config,
  folder: string,
  { force, cancel, onBytes }: How & { readonly force: boolean },
): Promise<Restored> {
  const manifest = await readManifest(folder, onBytes);
  const wanted = config.databaseUrl === null ? 'sqlite' : 'postgres';
  if (manifest.kind !== wanted) throw otherKind(manifest.kind, wanted);
  requirePlace(config, manifest);
  const how = { manifest, folder, force, tools: systemTools, cancel };
  const withSegments = async ({ ledgerId, sleepers }: RestoredLedger): Promise<Restored> => ({
    ...{ manifest, ledgerId },
    missing: await restoreSegments(config, folder, sleepers),
  });
  if (config.databaseUrl !== null) return withSegments(await restorePostgres({ ...how, url: config.databaseUrl }));
  const lock = await lockFolder(config.dataDir);
  try {
    return await withSegments(await restoreSqlite({ ...how, path: ledgerPath(config) }));
  } finally {
    await lock.close();
  }
}

const ledgerPath = ({ dataDir }: Config): string => join(dataDir, 'ledger.db');

async function requireEmpty(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true, mode: PRIVATE_FOLDER });
  const names = await readdir(folder);
  if (names.length === 0) return;
  throw refused(
    `expected a new or empty folder for the backup, got ${folder} with ${names[0]} in it; choose another one`,
  );
}

const otherKind = (got: Manifest['kind'], wanted: Manifest['kind']) =>
  refused(
    `expected a backup of a ${wanted} ledger, as configured, got one of a ${got} ledger; ` +
      (got === 'postgres' ? 'set DATABASE_URL' : 'unset DATABASE_URL'),
  );
