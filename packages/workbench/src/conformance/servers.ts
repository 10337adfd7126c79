import { openPool } from '@slowwave/adapters/postgres';
import { Redis } from 'ioredis';
import { UsageError } from '../arguments.ts';

/** A server of the user's, as far as the suites concern it. */
export interface Server {
  readonly version: string;
  /** What is on it already; none: it is empty. */
  readonly holds: readonly string[];
  /** Removes what the suites have left on a server that was empty. */
  clean(): Promise<void>;
  close(): Promise<void>;
}

/** A suite's tests, and the setting that tells them of the server. */
export interface Suite {
  readonly store: 'index' | 'ledger' | 'queue';
  readonly setting: string;
  readonly tests: string;
}

/** A kind of server, and what it can be. */
export interface Kind {
  readonly flag: 'qdrant' | 'postgres' | 'redis';
  readonly name: string;
  readonly example: string;
  readonly suites: readonly Suite[];
  open(url: string): Promise<Server>;
}

const PROOFS = 'packages/adapters/proofs/conformance';
const QUEUE: Suite = { store: 'queue', setting: 'CONFORMANCE_QUEUE_URL', tests: `${PROOFS}-queue` };

export const KINDS: readonly Kind[] = [
  {
    flag: 'qdrant',
    name: 'Qdrant',
    example: 'http://127.0.0.1:6333',
    suites: [{ store: 'index', setting: 'QDRANT_URL', tests: 'packages/adapters/test/qdrant' }],
    open: qdrantAt,
  },
  {
    flag: 'postgres',
    name: 'PostgreSQL',
    example: 'postgres://user:password@127.0.0.1:5432/empty',
    suites: [
      { store: 'ledger', setting: 'CONFORMANCE_LEDGER_URL', tests: `${PROOFS}-ledger` },
      { store: 'index', setting: 'CONFORMANCE_INDEX_URL', tests: `${PROOFS}-index` },
      QUEUE,
    ],
    open: postgresAt,
  },
  { flag: 'redis', name: 'Redis', example: 'redis://127.0.0.1:6379/9', suites: [QUEUE], open: redisAt },
];

/** A server that answers does so at once. */
const ANSWERS_WITHIN_MS = 10_000;

async function qdrantAt(url: string): Promise<Server> {
  // biome-ignore lint/style/noProcessEnv: a key has no place among the arguments, where everybody on the machine sees it.
  const key = process.env.QDRANT_API_KEY;
  const ask = async <T>(path: string, method = 'GET'): Promise<T> => {
    const headers = key === undefined ? {} : { 'api-key': key };
    const answer = await fetch(new URL(path, url), { method, headers, signal: AbortSignal.timeout(ANSWERS_WITHIN_MS) });
    if (!answer.ok) throw new UsageError(`expected a Qdrant at ${url}, got status ${answer.status} from ${path}`);
    return (await answer.json()) as T;
  };
  const collections = async (): Promise<string[]> => {
    const { result } = await ask<{ result: { collections: { name: string }[] } }>('/collections');
    return result.collections.map(({ name }) => name);
  };
  const { version } = await ask<{ version: string }>('/');
  return {
    version,
    holds: (await collections()).map((name) => `the collection ${name}`),
    clean: async () => {
      for (const name of await collections()) await ask(`/collections/${encodeURIComponent(name)}`, 'DELETE');
    },
    close: async () => {},
  };
}

const SCHEMAS =
  "SELECT nspname AS name FROM pg_namespace WHERE nspname NOT LIKE 'pg\\_%' AND nspname <> 'information_schema'";
/** Tables and the like, but for those of extensions. */
const RELATIONS = `
SELECT n.nspname || '.' || c.relname AS name FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE n.nspname IN (${SCHEMAS}) AND c.relkind IN ('r', 'p', 'v', 'm', 'f', 'S')
  AND NOT EXISTS (SELECT 1 FROM pg_depend d WHERE d.objid = c.oid AND d.deptype = 'e')`;

async function postgresAt(url: string): Promise<Server> {
  const pool = openPool({ url, schema: 'public', max: 1, log: SILENT });
  const names = async (query: string): Promise<string[]> =>
    (await pool.query(query)).rows.map(({ name }) => String(name));
  try {
    const [version = ''] = await names("SELECT split_part(current_setting('server_version'), ' ', 1) AS name");
    const before = await names(SCHEMAS);
    return {
      version,
      holds: (await names(RELATIONS)).map((name) => `the table ${name}`),
      clean: async () => {
        for (const schema of await names(SCHEMAS))
          if (!before.includes(schema)) await pool.query(`DROP SCHEMA "${schema}" CASCADE`);
      },
      close: () => pool.end(),
    };
  } catch (error) {
    await pool.end();
    throw error;
  }
}

const SILENT = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };

async function redisAt(url: string): Promise<Server> {
  const redis = new Redis(url, { lazyConnect: true, retryStrategy: () => null, connectTimeout: ANSWERS_WITHIN_MS });
  redis.on('error', () => {}); // what is wrong, the first command says
  try {
    await redis.connect();
    const version = /redis_version:(\S+)/.exec(await redis.info('server'))?.[1] ?? 'unknown';
    const keys = await redis.dbsize();
    return {
      version,
      holds: keys === 0 ? [] : [`${keys} keys in this database`],
      clean: async () => void (await redis.flushdb()),
      close: async () => redis.disconnect(),
    };
  } catch (error) {
    redis.disconnect();
    throw error;
  }
}
