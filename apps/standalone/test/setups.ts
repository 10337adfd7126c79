import {
  freePort,
  type Program,
  programFile,
  type Service,
  spawnService,
  startPostgres,
  startRedis,
  type TempDir,
  tempDir,
} from '@slowwave/testkit';

/** One way of running Slowwave, on a data folder of its own. Base URLs by what is asked there. */
export interface Setup {
  readonly dataDir: string;
  readonly ingest: string;
  readonly search: string;
  readonly console: string;
  /** Resolves as soon as one of the processes has written a line that matches. */
  waitForLine(pattern: RegExp): Promise<string>;
  /** Every process ends at once, as in a power cut. */
  crash(): Promise<void>;
  /** Every process is asked to end. */
  stop(): Promise<void>;
  /** The same data again, after a crash or a stop. */
  start(): Promise<void>;
  /** Ends everything and removes the data. */
  close(): Promise<void>;
}

export type OpenSetup = (env?: Readonly<Record<string, string>>) => Promise<Setup>;

/** One process, queue in process. */
export const standalone: OpenSetup = (env = {}) => open(env, { standalone: ['ingest', 'search', 'console'] }, {});

/** One process, queue on Redis. */
export const standaloneOnRedis: OpenSetup = async (env = {}) =>
  open(env, { standalone: ['ingest', 'search', 'console'] }, { REDIS_URL: await startRedis() });

/** One process, ledger and queue on PostgreSQL. */
export const standaloneOnPostgres: OpenSetup = async (env = {}) =>
  open(env, { standalone: ['ingest', 'search', 'console'] }, { DATABASE_URL: await startPostgres() });

/** Four processes on one ledger and Redis. */
export const fourProcesses: OpenSetup = async (env = {}) => open(env, FOUR, { REDIS_URL: await startRedis() });

/** Two of them: for what neither posts nor manages. */
export const searchAndWorker: OpenSetup = async (env = {}) =>
  open(env, { worker: [], search: ['search'] }, { REDIS_URL: await startRedis() });

/** Four processes with ledger, queue and index on one PostgreSQL, and nothing else. */
export const fourProcessesOnPostgres: OpenSetup = async (env = {}) =>
  open({ SLOWWAVE_INDEX: 'postgres', ...env }, FOUR, { DATABASE_URL: await startPostgres() });

/** A server of a setup, by the setting that names it. */
type Servers = Readonly<Record<string, { readonly url: string; stop(): Promise<void> }>>;

type Role = 'ingest' | 'search' | 'console';
type Apps = Readonly<Partial<Record<Program, readonly Role[]>>>;

const FOUR: Apps = { ingest: ['ingest'], worker: [], search: ['search'], console: ['console'] };

async function open(env: Readonly<Record<string, string>>, apps: Apps, servers: Servers): Promise<Setup> {
  const folder: TempDir = await tempDir();
  const programs = Object.keys(apps) as Program[];
  const ports = new Map<Program, number>();
  for (const program of programs) ports.set(program, await freePort());
  let running: Service[] = [];
  const start = async (): Promise<void> => {
    const begun = await Promise.allSettled(
      [...ports].map(([program, port]) =>
        spawnService({
          main: programFile(program),
          ready: { url: `http://127.0.0.1:${port}/readyz` },
          env: {
            SLOWWAVE_PORT: String(port),
            SLOWWAVE_DATA_DIR: folder.path,
            SLOWWAVE_BATCH_IDLE_MS: '200',
            SLOWWAVE_RETRY_DELAY_MS: '20',
            ...Object.fromEntries(Object.entries(servers).map(([name, { url }]) => [name, url])),
            ...env,
          },
        }),
      ),
    );
    running = begun.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
    const failed = begun.find((one) => one.status === 'rejected');
    if (failed === undefined) return;
    await endAll('kill'); // else the others would outlive the test
    throw failed.reason;
  };
  const urlOf = (role: Role): string => {
    const port = programs.filter((program) => apps[program]?.includes(role)).map((program) => ports.get(program));
    return `http://127.0.0.1:${port[0]}`;
  };
  const endAll = async (how: 'kill' | 'stop'): Promise<void> => {
    const ending = running;
    running = [];
    await Promise.all(ending.map((service) => service[how]()));
  };
  await start();
  return {
    dataDir: folder.path,
    ingest: urlOf('ingest'),
    search: urlOf('search'),
    console: urlOf('console'),
    waitForLine: (pattern) => Promise.any(running.map((service) => service.waitForLine(pattern))),
    crash: () => endAll('kill'),
    stop: () => endAll('stop'),
    start,
    close: async () => {
      await endAll('kill');
      await Promise.all(Object.values(servers).map((server) => server.stop()));
      await folder.remove();
    },
  };
}
