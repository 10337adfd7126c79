import { builtinEmbedder } from '@slowwave/builtin-model';
import type { Embedder, Ledger, SearchIndex, Tools } from '@slowwave/engine';

/**
 * Parts of the product itself, for what is measured without HTTP between. Loaded by their path: the packages they are in
 * are tested with this one, and could not be named as its dependencies.
 */
export const product = {
  /** The index for vectors of the builtin embedder, at the path of a file, or the URL of a Qdrant and its name there. */
  openIndex: async ([place = '', alias]: readonly string[]): Promise<SearchIndex> => {
    const { fingerprint, dimensions } = await product.embedder();
    const space = { fingerprint, dimensions };
    if (alias === undefined) return (await load<SqliteParts>('sqlite')).openSqliteIndex({ path: place, ...space });
    const { openQdrantIndex } = await load<QdrantParts>('qdrant');
    return openQdrantIndex({ url: place, alias, apiKey: null, log: SILENT, ...space });
  },
  openLedger: async (path: string): Promise<Ledger> => {
    const { openSqliteLedger } = await load<SqliteParts>('sqlite');
    return openSqliteLedger({ path, tools: await product.tools() });
  },
  tools: async (): Promise<Tools> => (await load<{ systemTools: Tools }>('system')).systemTools,
  keys: (): Promise<KeyParts> => load<KeyParts>('keys'),
  embedder: async (): Promise<Embedder> => builtinEmbedder(await product.tools()),
};

interface IndexSpace {
  readonly fingerprint: string;
  readonly dimensions: number;
}

export interface KeyParts {
  newSecret(id: string): { readonly secret: string; readonly hash: string };
  keyCheck(options: {
    readonly keys: Ledger['keys'];
    readonly tools: { now(): number };
    readonly log: { warn(): void };
    readonly monotonic: () => number;
  }): { check(secret: string): Promise<{ readonly kind: string }> };
}

interface SqliteParts {
  openSqliteIndex(options: IndexSpace & { readonly path: string }): Promise<SearchIndex>;
  openSqliteLedger(options: { readonly path: string; readonly tools: Tools }): Promise<Ledger>;
}

interface QdrantParts {
  openQdrantIndex(options: IndexSpace & Readonly<Record<string, unknown>>): Promise<SearchIndex>;
}

const nothing = (): void => {};
const SILENT = { debug: nothing, info: nothing, warn: nothing, error: nothing };

const load = <T>(part: string): Promise<T> =>
  import(new URL(`../../adapters/src/${part}/index.ts`, import.meta.url).href) as Promise<T>;
