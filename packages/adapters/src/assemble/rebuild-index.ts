import { type Embedder, EngineError, indexPage, type Ledger, type Log } from '@slowwave/engine';
import type { Config } from '../config/index.ts';
import { type RebuildProgress, type Rebuilt, rebuildQdrant } from '../qdrant/index.ts';
import { systemTools } from '../system/index.ts';

/** How the rebuild goes on, and what becomes of the collection that was used before. */
interface Wishes {
  readonly onProgress?: (progress: RebuildProgress) => void;
  readonly dropOld?: boolean;
}

/**
 * Builds the index of the configuration anew from the ledger, beside the one in use. To change the embedder without a
 * gap: rebuild with the new settings, then restart all processes with them. Stopped and started again, it goes on.
 */
export async function rebuildIndex(
  { qdrant }: Config,
  { ledger, embedder, log }: { readonly ledger: Ledger; readonly embedder: Embedder; readonly log: Log },
  wishes: Wishes = {},
): Promise<Rebuilt> {
  if (qdrant === null) throw fileNeedsNone();
  const { fingerprint, dimensions } = embedder;
  return rebuildQdrant({
    ...qdrant,
    ...wishes,
    alias: qdrant.index,
    fingerprint,
    dimensions,
    log,
    ledgerId: ledger.id,
    now: systemTools.now,
    page: (request) => indexPage({ ledger, embedder, tools: systemTools }, request, new AbortController().signal),
  });
}

function fileNeedsNone(): EngineError {
  return new EngineError(
    'expected an index on Qdrant (QDRANT_URL), got one in a SQLite file, which is rebuilt by itself at the start; ' +
      'delete index.db while nothing runs to force it',
    { code: 'index_unavailable', retryable: false },
  );
}
