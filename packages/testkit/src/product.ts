import type { Ledger, SearchIndex } from '@slowwave/engine';

/**
 * Parts of the product itself, for what is measured without HTTP between. Loaded by their path: the packages they are in
 * are tested with this one, and could not be named as its dependencies.
 */
export const product = {
  /** The index in a file, for vectors of the builtin embedder. */
  openIndex: async (path: string): Promise<SearchIndex> => {
    const { openSqliteIndex } = await load<SqliteParts>('sqlite');
    return openSqliteIndex({ path, ...(await builtinSpace()) });
  },
  /** The index on a server, under a name of its own. */
  openQdrantIndex: async (url: string, alias: string): Promise<SearchIndex> => {
    const { openQdrantIndex } = await load<QdrantParts>('qdrant');
    const space = await builtinSpace();
    return openQdrantIndex({ url, alias, apiKey: null, quantized: false, onDisk: false, log: SILENT, ...space });
  },
  openLedger: async (path: string): Promise<Ledger> => {
    const { openSqliteLedger } = await load<SqliteParts>('sqlite');
    const { systemTools } = await load<{ systemTools: unknown }>('system');
    return openSqliteLedger({ path, tools: systemTools });
  },
  embedder: async (): Promise<BuiltinEmbedder> => (await load<BuiltinParts>('builtin')).builtinEmbedder(),
};

interface IndexSpace {
  readonly fingerprint: string;
  readonly dimensions: number;
}

interface BuiltinEmbedder extends IndexSpace {
  embed(texts: readonly string[], cancel: AbortSignal): Promise<{ readonly vectors: readonly Float32Array[] }>;
}

interface SqliteParts {
  openSqliteIndex(options: IndexSpace & { readonly path: string }): Promise<SearchIndex>;
  openSqliteLedger(options: { readonly path: string; readonly tools: unknown }): Promise<Ledger>;
}

interface QdrantParts {
  openQdrantIndex(options: IndexSpace & Readonly<Record<string, unknown>>): Promise<SearchIndex>;
}

interface BuiltinParts {
  builtinEmbedder(): BuiltinEmbedder;
}

const nothing = (): void => {};
const SILENT = { debug: nothing, info: nothing, warn: nothing, error: nothing };

const load = <T>(part: string): Promise<T> =>
  import(new URL(`../../adapters/src/${part}/index.ts`, import.meta.url).href) as Promise<T>;

async function builtinSpace(): Promise<IndexSpace> {
  const { fingerprint, dimensions } = await product.embedder();
  return { fingerprint, dimensions };
}
