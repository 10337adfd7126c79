import type { DuePolicy } from '@slowwave/engine';
import type { z } from 'zod';
import { ENVIRONMENT, type Environment, type Given, ROOT } from './environment.ts';
import { pathOf } from './kinds.ts';
import { contradictionsOfModels, modelsOf, needless } from './models.ts';
import { coldOf, contradictionsOfCold, qdrantOf } from './stores.ts';

/** What differs between the programs. */
interface Program {
  readonly port: number;
  /** What an owner's silence and the wait of a batch are by default, with a model and with the builtin one. */
  readonly waits: Record<'model' | 'builtin', Pick<DuePolicy, 'idleMs' | 'paces' | 'maxAgeMs'>>;
  /** Where relative paths begin: the root of the repository, wherever the program was started. */
  readonly root: string;
}

/** Says all mistakes in the settings at once, each with what was expected. */
export class ConfigError extends Error {
  /** The exit code of a program that cannot use what it was given. */
  readonly exitCode = 2;

  constructor(problems: readonly string[]) {
    super(`invalid settings:\n${problems.map((problem) => `  - ${problem}`).join('\n')}`);
    this.name = 'ConfigError';
  }
}

/** An owner of a chat is left alone for so many of the gaps that are usual between its posts: few of them are longer. */
const PACES = 3;
const SERVICE_WAIT = { idleMs: 60_000, paces: PACES, maxAgeMs: 600_000 };
/** Proxies ask every few seconds whether a server is ready. */
const DRAIN_MS = 5_000;
/** Nobody elsewhere sends anything here; who does, asks more often. */
const DRAIN_LOCAL_MS = 1_000;
const LOOPBACK = ['127.0.0.1', '::1', 'localhost'];

/** The settings of one of several processes, which share a queue. */
export function readServiceConfig(
  port: number,
  needs: { readonly queue: boolean } = { queue: true },
  environment: Given = process.env,
): Config {
  const config = readConfig({ port, waits: { model: SERVICE_WAIT, builtin: SERVICE_WAIT }, root: ROOT }, environment);
  const problems = [...(needs.queue ? withoutQueue(config) : []), ...withoutIndex(config)];
  if (problems.length > 0) throw new ConfigError(problems);
  return config;
}

const ROUTER_PORT = 7_075;

/** What a router runs with. */
export type RouterConfig = Pick<Config, 'host' | 'port' | 'apiKey' | 'drainMs' | 'logLevel' | 'moves'> & {
  readonly directory: string;
};

/** The settings of a router, which has neither stores nor models. */
export function readRouterConfig(environment: Given = process.env): RouterConfig {
  const config = readConfig(
    { port: ROUTER_PORT, waits: { model: SERVICE_WAIT, builtin: SERVICE_WAIT }, root: ROOT },
    environment,
  );
  const { directory } = config;
  if (directory === null) throw new ConfigError([NO_DIRECTORY]);
  return { ...config, directory };
}

export const NO_DIRECTORY =
  'SLOWWAVE_DIRECTORY: expected the directory of cells, got nothing; set it to a SQLite file or a postgres:// URL';

const STANDALONE_PORT = 7_070;
/** What a small installation says is to be found soon. Rules cost nothing, and one person trying things out should not wait. */
const STANDALONE_WAITS = {
  model: { idleMs: 15_000, paces: PACES, maxAgeMs: 120_000 },
  builtin: { idleMs: 1_000, paces: 0, maxAgeMs: 120_000 },
};

/** The settings of the one process that does everything: from the environment, with flags of the command line over it. */
export const readStandaloneConfig = (flags: Given, environment: Given = process.env): Config =>
  readConfig({ port: STANDALONE_PORT, waits: STANDALONE_WAITS, root: ROOT }, { ...environment, ...flags });

/** Reads the settings; an empty one counts as not set. */
function readConfig(program: Program, settings: Given): Config {
  const given = Object.fromEntries(Object.entries(settings).filter(([, value]) => value !== undefined && value !== ''));
  const parsed = ENVIRONMENT.safeParse(given);
  const problems = parsed.success ? [] : parsed.error.issues.map((issue) => problemOf(issue, given));
  problems.push(...unknownIn(given), ...contradictions(given));
  if (!parsed.success || problems.length > 0) throw new ConfigError(problems);
  return configOf(parsed.data, program);
}

/** Kubernetes tells every container about services by names like SLOWWAVE_INGEST_SERVICE_HOST and …_PORT_7071_TCP_ADDR. */
const OF_A_SERVICE = /_(?:SERVICE_(?:HOST|PORT(?:_\w+)?)|PORT|PORT_\d+_(?:TCP|UDP)(?:_\w+)?)$/;

/** A name that is spelt wrong would leave a default in place that nobody asked for. */
function unknownIn(given: Given): string[] {
  const names = Object.keys(ENVIRONMENT.shape);
  const unknown = Object.keys(given).filter((name) => name.startsWith('SLOWWAVE_') && !names.includes(name));
  return unknown
    .filter((name) => !OF_A_SERVICE.test(name))
    .map((name) => {
      const meant = nearest(name, names);
      return `${name}: unknown setting; ${meant === null ? 'docs/settings.md lists all settings' : `did you mean ${meant}?`}`;
    });
}

/** For a program that is started: the environment of this one, and more. */
export const environmentWith = (more: Given): Given => ({ ...process.env, ...more });

/** Keys, and what may hold one or a password, are never repeated. */
const SECRET = /_(KEY|URL|ENDPOINT|HEADERS|BODY|DIRECTORY)$/;

function problemOf({ path, message }: z.core.$ZodIssue, given: Given): string {
  const name = path.join('.');
  return `${name}: ${message}${SECRET.test(name) ? '' : `, got "${given[name]}"`}`;
}

const drainMsOf = ({ SLOWWAVE_DRAIN_MS: given, SLOWWAVE_HOST: host }: Environment): number =>
  given ?? (LOOPBACK.includes(host) ? DRAIN_LOCAL_MS : DRAIN_MS);

/** All settings of a process, checked. */
export type Config = Readonly<ReturnType<typeof configOf>>;

const configOf = (env: Environment, program: Program) => ({
  ...serverOf(env, program),
  ...storesOf(env, program),
  ...modelsOf(env, program.root),
  ...workOf(env, program),
  /** Where the directory of cells is; null: there is none. */
  directory: directoryOf(env, program.root),
  /** Owners that a router moves at a time. */
  moves: env.SLOWWAVE_MOVES,
  traces: tracesOf(env),
  logLevel: env.SLOWWAVE_LOG_LEVEL,
});

const directoryOf = ({ SLOWWAVE_DIRECTORY: given }: Environment, root: string): string | null =>
  given === undefined || /^postgres(?:ql)?:/.test(given) ? (given ?? null) : pathOf(given, root);

const serverOf = (env: Environment, program: Program) => ({
  host: env.SLOWWAVE_HOST,
  port: env.SLOWWAVE_PORT ?? program.port,
  apiKey: env.SLOWWAVE_API_KEY ?? null,
  /** Requests a second of each given key, in each process; null: no limit. */
  keyRate: env.SLOWWAVE_KEY_RATE === 0 ? null : env.SLOWWAVE_KEY_RATE,
  /** From a SIGTERM to the end of listening, while /readyz says 503. */
  drainMs: drainMsOf(env),
  /** What URLs that callers give may lead to beyond the public internet. */
  allowedPrivateUrls: env.SLOWWAVE_ALLOW_PRIVATE_URLS ?? [],
  /** Origins that may show people's own page in a frame. */
  frameAncestors: env.SLOWWAVE_FRAME_ANCESTORS ?? [],
  /** Whether mem0's /reset erases everybody of a tenant. */
  mem0Reset: env.SLOWWAVE_MEM0_RESET,
  /** How long deliveries of webhooks are kept. */
  webhookDays: env.SLOWWAVE_WEBHOOK_DAYS,
  /** What the audit log records, and for how long. */
  audit: env.SLOWWAVE_AUDIT,
  auditDays: env.SLOWWAVE_AUDIT_DAYS,
  /** For how long it is kept what answers told; 0: not at all. */
  receiptDays: env.SLOWWAVE_RECEIPT_DAYS,
  /** Where all routes are, for programs that have none or not all of them; null: not said. */
  serverUrl: env.SLOWWAVE_URL ?? null,
  /** The name of this installation among others that share owners; null: it has all owners itself. */
  cell: env.SLOWWAVE_CELL ?? null,
  /** Where this program listens, as seen from this machine. */
  localUrl: `http://127.0.0.1:${env.SLOWWAVE_PORT ?? program.port}`,
});

const storesOf = (env: Environment, program: Program) => ({
  dataDir: pathOf(env.SLOWWAVE_DATA_DIR, program.root),
  redisUrl: env.REDIS_URL ?? null,
  /** Of a cluster: nodes beside the one of the URL. */
  redisNodes: env.SLOWWAVE_REDIS_CLUSTER,
  /** Over how many queues turns are spread. */
  queueShards: env.SLOWWAVE_QUEUE_SHARDS,
  /** null: the ledger is a SQLite file. */
  databaseUrl: env.DATABASE_URL ?? null,
  /** Of this process, whatever for. */
  databaseConnections: databaseConnectionsOf(env),
  qdrant: qdrantOf(env),
  /** Whether the index is in the same PostgreSQL as the ledger. */
  indexInDatabase: env.SLOWWAVE_INDEX === 'postgres',
  /** null: nobody sleeps. */
  cold: coldOf(env, program.root),
});

const workOf = (env: Environment, program: Program) => ({
  due: dueOf(env, program),
  partTokens: env.SLOWWAVE_PART_TOKENS,
  decideTokens: env.SLOWWAVE_DECIDE_TOKENS,
  recallPerFact: env.SLOWWAVE_RECALL_PER_FACT,
  messagesInIndex: env.SLOWWAVE_INDEX_MESSAGES,
  /** More waiting batches than this, and new ones are refused for a while. */
  maxPending: {
    perTenant: env.SLOWWAVE_MAX_PENDING,
    total: env.SLOWWAVE_MAX_PENDING_TOTAL,
    lateMs: env.SLOWWAVE_MAX_LATE_MS,
  },
  /** Calls of chat models at a time. */
  concurrency: env.SLOWWAVE_CONCURRENCY,
  /** Requests of the embedder at a time, of work that nobody waits for. */
  embeddingConcurrency: env.SLOWWAVE_EMBEDDING_CONCURRENCY,
  /** A worker that was silent this long is considered dead. */
  takeOverMs: env.SLOWWAVE_TAKE_OVER_MS,
  /** low: a worker that is a process of its own lets others go first. */
  workerPriority: env.SLOWWAVE_WORKER_PRIORITY,
  maxAttempts: env.SLOWWAVE_MAX_ATTEMPTS,
  waitsForGate: env.SLOWWAVE_GATE === 'wait',
  retryDelayMs: env.SLOWWAVE_RETRY_DELAY_MS,
});

/** A silence that is set is that long, whatever the pace. */
function dueOf(env: Environment, program: Program): DuePolicy {
  const { SLOWWAVE_BATCH_EXCHANGES: exchanges, SLOWWAVE_BATCH_IDLE_MS: idleMs } = env;
  const usual = program.waits[modelsOf(env, program.root).chatModel === null ? 'builtin' : 'model'];
  return {
    ...usual,
    tokens: env.SLOWWAVE_BATCH_TOKENS,
    ...(exchanges !== undefined && { exchanges }),
    ...(idleMs !== undefined && { idleMs, paces: 0 }),
    maxAgeMs: env.SLOWWAVE_BATCH_MAX_AGE_MS ?? usual.maxAgeMs,
  };
}

/** Where traces go; null: nowhere. */
function tracesOf(env: Environment) {
  const { OTEL_EXPORTER_OTLP_ENDPOINT: endpoint, OTEL_EXPORTER_OTLP_HEADERS: headers } = env;
  return endpoint === undefined ? null : { endpoint, headers: headers ?? {} };
}

/** Settings that only make sense with others, which are not set. */
const contradictions = (given: Given): string[] => [
  ...contradictionsOfModels(given),
  ...(given.QDRANT_URL === undefined
    ? needless(given, /^(SLOWWAVE_)?QDRANT_/, 'an index on Qdrant; set QDRANT_URL')
    : []),
  ...contradictionsOfIndex(given),
  ...contradictionsOfCold(given),
  ...(given.REDIS_URL === undefined
    ? needless(given, /^SLOWWAVE_REDIS_CLUSTER$/, 'a queue on Redis; set REDIS_URL to one of the nodes')
    : []),
  ...tooFewConnections(given),
];

function contradictionsOfIndex({ SLOWWAVE_INDEX: index, QDRANT_URL: qdrant, DATABASE_URL: database }: Given): string[] {
  if (index === undefined) return [];
  return [
    ...(qdrant === undefined
      ? []
      : ['SLOWWAVE_INDEX: the index is either in PostgreSQL or on Qdrant; unset SLOWWAVE_INDEX or QDRANT_URL']),
    ...(database === undefined
      ? ['SLOWWAVE_INDEX: requires PostgreSQL; set DATABASE_URL, or unset SLOWWAVE_INDEX']
      : []),
  ];
}

/** What is missing where several processes share a queue. */
function withoutQueue({ redisUrl, databaseUrl }: Config): string[] {
  if (redisUrl !== null || databaseUrl !== null) return [];
  return [
    'REDIS_URL: separate processes share a queue; set it, or DATABASE_URL for a queue on PostgreSQL, or run the ' +
      'standalone app instead',
  ];
}

/** What is missing where several processes may run on several hosts. */
function withoutIndex({ databaseUrl, qdrant, indexInDatabase }: Config): string[] {
  if (databaseUrl === null || qdrant !== null || indexInDatabase) return [];
  return [
    'SLOWWAVE_INDEX: separate processes on PostgreSQL may run on several hosts, each of which would search an index file ' +
      'of its own; set it to postgres, or set QDRANT_URL, for an index they share, or run the standalone app instead',
  ];
}

/** A server allows a hundred by default, for all processes. */
const CONNECTIONS = 24;
/** A queue in PostgreSQL holds some for as long as it runs. */
const CONNECTIONS_MIN = 12;
/** Transactions take milliseconds. More connections only take turns on the processors. */
const CONNECTIONS_OF_LEDGER = 4;
/** A search holds one of the index's for as long as it takes. */
const CONNECTIONS_WITH_INDEX = 8;

const databaseConnectionsOf = ({
  SLOWWAVE_DATABASE_CONNECTIONS: given,
  REDIS_URL: redis,
  SLOWWAVE_INDEX: index,
}: Environment): number => {
  if (given !== undefined) return given;
  if (redis === undefined) return CONNECTIONS;
  return index === undefined ? CONNECTIONS_OF_LEDGER : CONNECTIONS_WITH_INDEX;
};

function tooFewConnections(given: Given): string[] {
  const { SLOWWAVE_DATABASE_CONNECTIONS: count, REDIS_URL: redis, DATABASE_URL: database } = given;
  const isEnough = redis !== undefined || database === undefined || Number(count ?? CONNECTIONS) >= CONNECTIONS_MIN;
  const expected = `expected at least ${CONNECTIONS_MIN} with the queue in PostgreSQL`;
  return isEnough ? [] : [`SLOWWAVE_DATABASE_CONNECTIONS: ${expected}, got "${count}"; raise it, or set REDIS_URL`];
}

/** The word that was probably meant; null if none is near. */
export function nearest(word: string, words: readonly string[]): string | null {
  const most = Math.max(1, Math.floor(word.length / LETTERS_A_SLIP));
  const ranked = words
    .map((one) => ({ one, slips: slipsBetween(word.toLowerCase(), one.toLowerCase()) }))
    .sort((a, b) => a.slips - b.slips);
  const [best] = ranked;
  return best !== undefined && best.slips <= most ? best.one : null;
}

/** One in so many letters may be wrong. */
const LETTERS_A_SLIP = 3;

/** How many letters are missing, superfluous, wrong, or in the other order. */
function slipsBetween(a: string, b: string): number {
  let [before, last]: [number[], number[]] = [[], Array.from({ length: b.length + 1 }, (_, j) => j)];
  for (let i = 1; i <= a.length; i += 1) {
    const row = [i];
    for (let j = 1; j <= b.length; j += 1) {
      const isSame = a[i - 1] === b[j - 1];
      const isSwapped = a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      const choices = [(last[j] ?? 0) + 1, (row[j - 1] ?? 0) + 1, (last[j - 1] ?? 0) + (isSame ? 0 : 1)];
      row.push(Math.min(...choices, ...(isSwapped ? [(before[j - 2] ?? 0) + 1] : [])));
    }
    [before, last] = [last, row];
  }
  return last[b.length] ?? 0;
}
