import { rmSync } from 'node:fs';
import { join } from 'node:path';
import {
  freePort,
  type Service,
  spawnService,
  startPostgres,
  startRedis,
  type TestPostgres,
  tempDir,
} from '@slowwave/testkit';

type LedgerKind = 'sqlite' | 'postgres';

export interface FleetOptions {
  readonly ledger: LedgerKind;
  /** Workers that run from the start. */
  readonly workers: number;
  /** More settings, for all programs. */
  readonly settings: Readonly<Record<string, string>>;
  /** Where the index is; null: in a file that all programs share. */
  readonly qdrantUrl?: string | null;
  /** PostgreSQL waits for the disk, as it does for its users. */
  readonly durable?: boolean;
  /** PostgreSQL counts what it does by statement. */
  readonly counting?: boolean;
}

/** Ingest, search, console and workers as processes of their own, on servers and a folder of their own. */
export interface Fleet {
  readonly ingest: string;
  readonly search: string;
  readonly console: string;
  /** What it runs on, in words. */
  readonly place: string;
  /** Where the index is: the path of its file, or the URL of its server and its name there. */
  readonly index: readonly string[];
  /** Where each worker shows its metrics, and the key with which it asks the model; killed ones too. */
  readonly workers: readonly string[];
  /** The ledger's server; null: there is none. */
  readonly postgres: TestPostgres | null;
  /** Of the workers that run. */
  pids(): readonly number[];
  /** Of all programs and servers that run. */
  allPids(): Promise<readonly number[]>;
  /** Of ingest. */
  ingestPid(): number | null;
  startWorker(): Promise<void>;
  /** kill -9 of the n-th worker. */
  killWorker(n: number): Promise<void>;
  /** The n-th worker again, where it was. */
  restartWorker(n: number): Promise<void>;
  /** Ends everything and removes the data. */
  close(): Promise<void>;
}

type Program = 'ingest' | 'search' | 'console' | 'worker';

interface Part {
  readonly url: string;
  pid(): number | null;
  start(): Promise<void>;
  kill(): Promise<void>;
}

interface Servers {
  readonly settings: Readonly<Record<string, string>>;
  readonly index: readonly string[];
  /** Separate programs with a ledger in PostgreSQL refuse to share the file of an index. */
  readonly oneHost: boolean;
  readonly postgres: TestPostgres | null;
  pids(): Promise<readonly number[]>;
  close(): Promise<void>;
}

export async function startFleet(options: FleetOptions): Promise<Fleet> {
  const servers = await startServers(options);
  const parts: Part[] = [];
  const workers: Part[] = [];
  const close = async (): Promise<void> => {
    const ended = await Promise.allSettled([...parts, ...workers].map((part) => part.kill()));
    await servers.close();
    for (const end of ended) if (end.status === 'rejected') throw end.reason;
  };
  const add = async (list: Part[], program: Program): Promise<string> => {
    const made = await part(program, servers);
    list.push(made);
    await made.start();
    return made.url;
  };
  const worker = (n: number): Part => {
    const found = workers[n];
    if (found === undefined) throw new Error(`expected one of ${workers.length} workers, got number ${n}`);
    return found;
  };
  try {
    // One after the other: the first makes the ledger and the index.
    const ingest = await add(parts, 'ingest');
    const [search, console] = await Promise.all([add(parts, 'search'), add(parts, 'console')]);
    for (let i = 0; i < options.workers; i += 1) await add(workers, 'worker');
    return {
      ingest,
      search,
      console,
      place: placeOf(options),
      index: servers.index,
      get workers() {
        return workers.map(({ url }) => url);
      },
      postgres: servers.postgres,
      pids: () => workers.flatMap((each) => each.pid() ?? []),
      allPids: async () => [...parts, ...workers].flatMap((each) => each.pid() ?? []).concat(await servers.pids()),
      ingestPid: () => parts[0]?.pid() ?? null,
      startWorker: async () => void (await add(workers, 'worker')),
      killWorker: (n) => worker(n).kill(),
      restartWorker: (n) => worker(n).start(),
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

const placeOf = ({ ledger, qdrantUrl = null }: FleetOptions): string =>
  `${ledger === 'sqlite' ? 'SQLite' : 'PostgreSQL'} + Redis, index ${qdrantUrl === null ? 'in SQLite' : 'on Qdrant'}`;

async function startServers(options: FleetOptions): Promise<Servers> {
  const { ledger, qdrantUrl = null, durable = false, counting = false, settings } = options;
  const folder = await tempDir();
  const sweep = (): void => rmSync(folder.path, { recursive: true, force: true, maxRetries: 3 });
  process.once('exit', sweep);
  const redis = await startRedis();
  const postgres = ledger === 'postgres' ? await startPostgres({ durable, counting }) : null;
  // Nobody else's points are in a collection of this name.
  const alias = `fleet-${Date.now().toString(36)}`;
  return {
    index: qdrantUrl === null ? [join(folder.path, 'index.db')] : [qdrantUrl, alias],
    oneHost: postgres !== null && qdrantUrl === null,
    postgres,
    pids: async () => [redis.pid, ...((await postgres?.pids()) ?? [])],
    settings: {
      ...COMMON,
      SLOWWAVE_DATA_DIR: folder.path,
      REDIS_URL: redis.url,
      ...(postgres !== null && { DATABASE_URL: postgres.url }),
      ...(qdrantUrl !== null && { QDRANT_URL: qdrantUrl, SLOWWAVE_QDRANT_INDEX: alias }),
      ...settings,
    },
    close: async () => {
      await Promise.all([redis.stop(), postgres?.stop()]);
      await folder.remove();
      process.off('exit', sweep);
    },
  };
}

const ROOT = new URL('../../../../', import.meta.url);

const COMMON = {
  SLOWWAVE_LOG_LEVEL: 'warn',
  SLOWWAVE_EMBEDDING_MODEL: 'builtin',
};

/** A program at a port of its own; not started yet. */
async function part(program: Program, { settings, oneHost }: Servers): Promise<Part> {
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  let running: Service | null = null;
  return {
    url,
    pid: () => running?.pid ?? null,
    start: async () => {
      running = await spawnService({
        main: oneHost ? new URL('one-host/main.ts', import.meta.url) : new URL(`apps/${program}/src/main.ts`, ROOT),
        args: oneHost ? [program] : [],
        // The model sees by the key who asks.
        env: { ...settings, SLOWWAVE_PORT: String(port), OPENAI_API_KEY: url },
        ready: { url: `${url}/readyz` },
      });
    },
    kill: async () => {
      const ending = running;
      running = null;
      await ending?.kill();
    },
  };
}
