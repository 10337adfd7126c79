import { needScope, type Routes } from '@slowwave/http';
import { getBatch, listBatches } from './batches.ts';
import type { IngestDeps } from './deps.ts';
import { postBatch, postFlush } from './post-batch.ts';

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
