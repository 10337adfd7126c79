import { join } from 'node:path';
import {
  type Embedder,
  type IndexBuild,
  type Ledger,
  type Log,
  type Rebuilding,
  type Rebuilt,
  rebuildIndex,
} from '@slowwave/engine';
import type { Config } from '../config/index.ts';
import { openSqliteBuild } from '../sqlite/index.ts';
import { systemTools } from '../system/index.ts';
import { engineSettings } from './settings.ts';

interface Parts {
  readonly ledger: Ledger;
  readonly embedder: Embedder;
  readonly log: Log;
}

/** `keepOld`: a collection on Qdrant that was used before stays until somebody deletes it. */
type Wishes = Rebuilding & { readonly keepOld: boolean };

/**
 * Builds the index of the configuration anew from the ledger, beside the one in use. To change the embedder without a
 * gap: rebuild with the new settings, then restart all processes with them. Stopped and started again, it goes on.
 */
export async function rebuildOwnIndex(config: Config, parts: Parts, wishes: Wishes): Promise<Rebuilt> {
  const build = await openBuild(config, parts, wishes);
  try {
    return await rebuildIndex({ ...parts, tools: systemTools, settings: engineSettings(config) }, build, wishes);
  } finally {
    await build.close();
  }
}

async function openBuild(
  { qdrant, dataDir }: Config,
  { embedder, log }: Parts,
  { keepOld }: Wishes,
): Promise<IndexBuild & { close(): Promise<void> }> {
  const { fingerprint, dimensions } = embedder;
  if (qdrant === null) return openSqliteBuild({ path: join(dataDir, 'index.db'), fingerprint, dimensions });
  const { openQdrantBuild } = await import('../qdrant/index.ts');
  return openQdrantBuild({ ...qdrant, alias: qdrant.index, fingerprint, dimensions, log, keepOld });
}
