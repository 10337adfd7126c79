import { openSqliteIndex, openSqliteLedger } from '@slowwave/adapters/sqlite';
import { systemTools } from '@slowwave/adapters/system';
import { builtinEmbedder } from '@slowwave/builtin-model';
import type { Embedder, Ledger, Log, SearchIndex } from '@slowwave/engine';

const nothing = (): void => {};
const SILENT: Log = { debug: nothing, info: nothing, warn: nothing, error: nothing };

/** Parts of the product itself, for what is measured without HTTP between. */
export const product = {
  /** The index for vectors of the builtin embedder, at the path of a file, or the URL of a Qdrant and its name there. */
  openIndex: async ([place = '', alias]: readonly string[]): Promise<SearchIndex> => {
    const { fingerprint, dimensions } = product.embedder();
    const space = { fingerprint, dimensions };
    if (alias === undefined) return openSqliteIndex({ path: place, ...space });
    const { openQdrantIndex } = await import('@slowwave/adapters/qdrant'); // its client is loaded only with a Qdrant
    return openQdrantIndex({ url: place, alias, apiKey: null, log: SILENT, ...space });
  },
  openLedger: (path: string): Promise<Ledger> => openSqliteLedger({ path, tools: systemTools }),
  embedder: (): Embedder => builtinEmbedder(systemTools),
  tools: systemTools,
  log: SILENT,
};
