import { needScope, type Routes } from '@slowwave/http';
import type { IngestDeps } from './deps.ts';
import { getBatch } from './get-batch.ts';
import { listBatches } from './list-batches.ts';
import { postBatch } from './post-batch.ts';
import { postFlush } from './post-flush.ts';

export type { IngestDeps } from './deps.ts';

/** Takes transcripts in, and tells what became of them. */
export const ingestRoutes =
  (deps: IngestDeps): Routes =>
  async (app) => {
    needScope(app, 'ingest');
    postBatch(app, deps);
    getBatch(app, deps);
    listBatches(app, deps);
    postFlush(app, deps);
  };
