import { homedir } from 'node:os';
import { isAbsolute, resolve } from 'node:path';
import type { z } from 'zod';
import type { LocalSource } from '../local/open.ts';
import { databaseConnectionsOf, ENVIRONMENT, type Environment, localSource, tooFewConnections } from './environment.ts';

/** What differs between the programs. */
interface Program {
  readonly port: number;
  readonly idleMs: number;
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

const DEFAULT_CHAT_MODEL = 'gpt-4.1-mini';
const DEFAULT_EMBEDDING_MODEL = 'text-embedding-3-small';

/** Reads the settings; an empty one counts as not set. */
function readConfig(program: Program, settings: Given): Config {
  const given = Object.fromEntries(Object.entries(settings).filter(([, value]) => value !== undefined && value !== ''));
  const parsed = ENVIRONMENT.safeParse(given);
  const problems = parsed.success ? [] : parsed.error.issues.map((issue) => problemOf(issue, given));
  problems.push(...contradictions(given));
  if (!parsed.success || problems.length > 0) throw new ConfigError(problems);
  return configOf(parsed.data, program);
}

/** An owner of a chat is left alone for this long before what was said is consolidated. */
const SERVICE_IDLE_MS = 60_000;
/** Proxies ask every few seconds whether a server is ready. */
const DRAIN_MS = 5_000;
/** Nobody elsewhere sends anything here; who does, asks more often. */
const DRAIN_LOCAL_MS = 1_000;
const LOOPBACK = ['127.0.0.1', '::1', 'localhost'];
const ROOT = resolve(import.meta.dirname, '../../../..');

/** The settings of one of several processes, which share a queue. */
export function readServiceConfig(
  port: number,
  needs: { readonly queue: boolean } = { queue: true },
  environment: Given = process.env,
): Config {
  const config = readConfig({ port, idleMs: SERVICE_IDLE_MS, root: ROOT }, environment);
  const problems = [...(needs.queue ? withoutQueue(config) : []), ...withoutIndex(config)];
  if (problems.length > 0) throw new ConfigError(problems);
  return config;
}

const STANDALONE_PORT = 7_070;
/** One person trying things out should not wait. */
const STANDALONE_IDLE_MS = 1_000;

/** The settings of the one process that does everything: from the environment, with flags of the command line over it. */
export const readStandaloneConfig = (flags: Given, environment: Given = process.env): Config =>
  readConfig({ port: STANDALONE_PORT, idleMs: STANDALONE_IDLE_MS, root: ROOT }, { ...environment, ...flags });

/** For a program that is started: the environment of this one, and more. */
export const environmentWith = (more: Given): Given => ({ ...process.env, ...more });

/** Keys, and URLs that may hold a password, are never repeated. */
const SECRET = /_(KEY|URL|ENDPOINT|HEADERS|BODY)$/;

function problemOf({ path, message }: z.core.$ZodIssue, given: Given): string {
  const name = path.join('.');
  return `${name}: ${message}${SECRET.test(name) ? '' : `, got "${given[name]}"`}`;
}

/** builtin where it is said, or where there is no server. */
function modelOf(named: string | undefined, usual: string, server: boolean): string | null {
  const model = named ?? (server ? usual : 'builtin');
  return model === 'builtin' ? null : model;
}

const drainMsOf = ({ SLOWWAVE_DRAIN_MS: given, SLOWWAVE_HOST: host }: Environment): number =>
  given ?? (LOOPBACK.includes(host) ? DRAIN_LOCAL_MS : DRAIN_MS);

/** All settings of a process, checked. */
export type Config = Readonly<ReturnType<typeof configOf>>;

const configOf = (env: Environment, program: Program) => ({
  ...serverOf(env, program),
  ...storesOf(env, program),
  ...modelsOf(env, program),
  ...workOf(env, program),
  traces: tracesOf(env),
  logLevel: env.SLOWWAVE_LOG_LEVEL,
});

const serverOf = (env: Environment, program: Program) => ({
  host: env.SLOWWAVE_HOST,
  port: env.SLOWWAVE_PORT ?? program.port,
  apiKey: env.SLOWWAVE_API_KEY ?? null,
  /** Requests a second of each given key, in each process; null: no limit. */
  keyRate: env.SLOWWAVE_KEY_RATE === 0 ? null : env.SLOWWAVE_KEY_RATE,
  /** From a SIGTERM to the end of listening, while /readyz says 503. */
  drainMs: drainMsOf(env),
  /** What URLs that callers give may lead to beyond the public internet. */
  allowedPrivateUrls: listOf(env.SLOWWAVE_ALLOW_PRIVATE_URLS),
  /** How long deliveries of webhooks are kept. */
  webhookDays: env.SLOWWAVE_WEBHOOK_DAYS,
  /** What the audit log records, and for how long. */
  audit: env.SLOWWAVE_AUDIT,
  auditDays: env.SLOWWAVE_AUDIT_DAYS,
  /** For how long it is kept what answers told; 0: not at all. */
  receiptDays: env.SLOWWAVE_RECEIPT_DAYS,
  /** The server that the command line talks to. */
  serverUrl: env.SLOWWAVE_URL ?? `http://127.0.0.1:${env.SLOWWAVE_PORT ?? program.port}`,
});

const storesOf = (env: Environment, program: Program) => ({
  dataDir: pathOf(env.SLOWWAVE_DATA_DIR, program.root),
  redisUrl: env.REDIS_URL ?? null,
  /** null: the ledger is a SQLite file. */
  databaseUrl: env.DATABASE_URL ?? null,
  /** Of this process, whatever for. */
  databaseConnections: databaseConnectionsOf(env),
  qdrant: qdrantOf(env),
});

function modelsOf(env: Environment, { root }: Program) {
  const { OPENAI_API_KEY: apiKey = null, OPENAI_BASE_URL: baseUrl = null } = env;
  const server = apiKey !== null || baseUrl !== null;
  return {
    openai: { apiKey, baseUrl, timeoutMs: env.SLOWWAVE_MODEL_TIMEOUT_MS },
    chatModel: modelOf(env.SLOWWAVE_CHAT_MODEL, DEFAULT_CHAT_MODEL, server),
    /** Chat models that tenants may name beside it. */
    tenantModels: listOf(env.SLOWWAVE_TENANT_MODELS),
    /** null: none; images are refused. */
    imageModel: env.SLOWWAVE_IMAGE_MODEL === 'none' ? null : env.SLOWWAVE_IMAGE_MODEL,
    embeddingModel: modelOf(env.SLOWWAVE_EMBEDDING_MODEL, DEFAULT_EMBEDDING_MODEL, hasEmbeddingServer(env)),
    embeddingServer: embeddingServerOf(env),
    embeddingDimensions: env.SLOWWAVE_EMBEDDING_DIMENSIONS ?? null,
    /** Before what is embedded; null: as the model is used to. */
    embeddingPrefixes: {
      query: prefixOf(env.SLOWWAVE_EMBEDDING_QUERY_PREFIX),
      document: prefixOf(env.SLOWWAVE_EMBEDDING_DOCUMENT_PREFIX),
    },
    /** null: the embedding model does not run in this process. */
    localModel: localModelOf(env, root),
    modelHub: env.SLOWWAVE_MODEL_HUB_URL,
    reranker: rerankerOf(env),
    /** What the provider allows of each chat model, for all processes together; null: no limit known. */
    limits: { requestsPerMinute: env.SLOWWAVE_RPM ?? null, tokensPerMinute: env.SLOWWAVE_TPM ?? null },
    /** What a day of a tenant may use at most; null: no limit. */
    ceilings: {
      tokensPerDay: env.SLOWWAVE_TENANT_TOKENS_PER_DAY ?? null,
      costPerDay: env.SLOWWAVE_TENANT_COST_PER_DAY ?? null,
    },
  };
}

/** A key goes to the server that it was given for: that of the chat model to no other. */
function embeddingServerOf(env: Environment) {
  const own = env.SLOWWAVE_EMBEDDING_BASE_URL;
  const ownKey = env.SLOWWAVE_EMBEDDING_API_KEY ?? (own === undefined ? undefined : null);
  return {
    baseUrl: own ?? env.OPENAI_BASE_URL ?? null,
    apiKey: ownKey === undefined ? (env.OPENAI_API_KEY ?? null) : ownKey,
    timeoutMs: env.SLOWWAVE_MODEL_TIMEOUT_MS,
    extraBody: env.SLOWWAVE_EMBEDDING_EXTRA_BODY ?? {},
    extraHeaders: env.SLOWWAVE_EMBEDDING_EXTRA_HEADERS ?? {},
    /** Where it is set, for what is said when it is wrong. */
    settings: {
      baseUrl: own === undefined ? 'OPENAI_BASE_URL' : 'SLOWWAVE_EMBEDDING_BASE_URL',
      apiKey: ownKey === undefined ? 'OPENAI_API_KEY' : 'SLOWWAVE_EMBEDDING_API_KEY',
    },
  };
}

const prefixOf = (given: string | undefined): string | null => (given === 'none' ? '' : (given ?? null));

function localModelOf({ SLOWWAVE_EMBEDDING_MODEL: model = '' }: Environment, root: string): LocalSource | null {
  const source = localSource(model);
  if (source === null || source === 'unknown') return null;
  return 'folder' in source ? { folder: pathOf(source.folder, root) } : source;
}

const workOf = (env: Environment, program: Program) => ({
  due: {
    tokens: env.SLOWWAVE_BATCH_TOKENS,
    idleMs: env.SLOWWAVE_BATCH_IDLE_MS ?? program.idleMs,
    maxAgeMs: env.SLOWWAVE_BATCH_MAX_AGE_MS,
  },
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
  /** A worker that was silent this long is considered dead. */
  takeOverMs: env.SLOWWAVE_TAKE_OVER_MS,
  maxAttempts: env.SLOWWAVE_MAX_ATTEMPTS,
  retryDelayMs: env.SLOWWAVE_RETRY_DELAY_MS,
});

const listOf = (given: readonly string[] | undefined): readonly string[] => given ?? [];

function rerankerOf(env: Environment) {
  const { SLOWWAVE_RERANK_URL: url, SLOWWAVE_RERANK_MODEL: model, SLOWWAVE_RERANK_API_KEY: apiKey } = env;
  return url === undefined ? null : { url, model: model ?? null, apiKey: apiKey ?? null };
}

/** Where traces go; null: nowhere. */
function tracesOf(env: Environment) {
  const { OTEL_EXPORTER_OTLP_ENDPOINT: endpoint, OTEL_EXPORTER_OTLP_HEADERS: headers } = env;
  return endpoint === undefined ? null : { endpoint, headers: headers ?? {} };
}

/** null: the index is a SQLite file. */
function qdrantOf(env: Environment) {
  if (env.QDRANT_URL === undefined) return null;
  return {
    url: env.QDRANT_URL,
    apiKey: env.QDRANT_API_KEY ?? null,
    index: env.SLOWWAVE_QDRANT_INDEX,
    quantized: env.SLOWWAVE_QDRANT_QUANTIZED,
    onDisk: env.SLOWWAVE_QDRANT_ON_DISK,
  };
}

function pathOf(given: string, root: string): string {
  const path = given.startsWith('~/') ? resolve(homedir(), given.slice(2)) : given;
  return isAbsolute(path) ? path : resolve(root, path);
}

/** Settings by name, before they are checked. */
export type Given = Readonly<Record<string, string | undefined>>;

/** Settings that only make sense with others, which are not set. */
const contradictions = (given: Given): string[] => [
  ...modelsWithoutServer(given),
  ...embedderWithout(given),
  ...qdrantWithoutUrl(given),
  ...rerankerWithoutUrl(given),
  ...tooFewConnections(given),
];

function rerankerWithoutUrl(given: Given): string[] {
  if (given.SLOWWAVE_RERANK_URL !== undefined) return [];
  return ['SLOWWAVE_RERANK_MODEL', 'SLOWWAVE_RERANK_API_KEY']
    .filter((name) => given[name] !== undefined)
    .map((name) => `${name}: only applies with a reranker; set SLOWWAVE_RERANK_URL, or unset this`);
}

/** The builtin embedder reads no prefix, and a local model has the length of vectors that it has. Neither is on a server. */
function embedderWithout(given: Given): string[] {
  const model = given.SLOWWAVE_EMBEDDING_MODEL ?? (hasEmbeddingServer(given) ? DEFAULT_EMBEDDING_MODEL : 'builtin');
  if (isLocal(model)) {
    const only = 'does not apply to a local model, whose vectors have the length they have; unset it';
    return [
      ...(given.SLOWWAVE_EMBEDDING_DIMENSIONS === undefined ? [] : [`SLOWWAVE_EMBEDDING_DIMENSIONS: ${only}`]),
      ...setAmong(given, OF_A_SERVER).map((name) => `${name}: does not apply to a local model; unset it`),
    ];
  }
  if (model !== 'builtin') return withoutModel(given);
  return setAmong(given, [...OF_A_MODEL, ...OF_A_SERVER]).map(
    (name) => `${name}: does not apply to the builtin embedder; set SLOWWAVE_EMBEDDING_MODEL, or unset this`,
  );
}

/** A server of somebody's own has no model that could be guessed. */
function withoutModel({ SLOWWAVE_EMBEDDING_BASE_URL: own, SLOWWAVE_EMBEDDING_MODEL: model }: Given): string[] {
  if (own === undefined || model !== undefined) return [];
  return ['SLOWWAVE_EMBEDDING_MODEL: an embedding server of its own needs the name of its model; set it'];
}

const OF_A_MODEL = ['SLOWWAVE_EMBEDDING_QUERY_PREFIX', 'SLOWWAVE_EMBEDDING_DOCUMENT_PREFIX'];
const OF_A_SERVER = [
  'SLOWWAVE_EMBEDDING_BASE_URL',
  'SLOWWAVE_EMBEDDING_API_KEY',
  'SLOWWAVE_EMBEDDING_EXTRA_BODY',
  'SLOWWAVE_EMBEDDING_EXTRA_HEADERS',
];

const setAmong = (given: Given, names: readonly string[]): string[] =>
  names.filter((name) => given[name] !== undefined);

function qdrantWithoutUrl(given: Given): string[] {
  if (given.QDRANT_URL !== undefined) return [];
  return Object.keys(given)
    .filter((name) => /^(SLOWWAVE_)?QDRANT_/.test(name) && name in ENVIRONMENT.shape)
    .map((name) => `${name}: only applies with an index on Qdrant; set QDRANT_URL, or unset this`);
}

function modelsWithoutServer(given: Given): string[] {
  return Object.entries(WITHOUT_SERVER).flatMap(([name, { instead, has, remedy }]) =>
    has(given) || (given[name] ?? instead) === instead ? [] : [`${name}: a model needs a server; set ${remedy}`],
  );
}

const hasServer = (given: Given | Environment): boolean =>
  given.OPENAI_API_KEY !== undefined || given.OPENAI_BASE_URL !== undefined;

const hasEmbeddingServer = (given: Given | Environment): boolean =>
  hasServer(given) || given.SLOWWAVE_EMBEDDING_BASE_URL !== undefined || given.SLOWWAVE_EMBEDDING_API_KEY !== undefined;

const isLocal = (model: string | undefined): boolean => localSource(model ?? '') !== null;

/** The models there are, and what each must be where there is no server. */
const WITHOUT_SERVER = {
  SLOWWAVE_CHAT_MODEL: {
    instead: 'builtin',
    has: hasServer,
    remedy: 'OPENAI_API_KEY or OPENAI_BASE_URL, or name it builtin',
  },
  SLOWWAVE_IMAGE_MODEL: {
    instead: 'none',
    has: hasServer,
    remedy: 'OPENAI_API_KEY or OPENAI_BASE_URL, or name it none',
  },
  SLOWWAVE_EMBEDDING_MODEL: {
    instead: 'builtin',
    has: (given: Given) => hasEmbeddingServer(given) || isLocal(given.SLOWWAVE_EMBEDDING_MODEL),
    remedy: 'OPENAI_API_KEY, OPENAI_BASE_URL or SLOWWAVE_EMBEDDING_BASE_URL, or name it builtin or local',
  },
};

/** What is missing where several processes share a queue. */
function withoutQueue({ redisUrl, databaseUrl }: Config): string[] {
  if (redisUrl !== null || databaseUrl !== null) return [];
  return [
    'REDIS_URL: separate processes share a queue; set it, or DATABASE_URL for a queue on PostgreSQL, or run the ' +
      'standalone app instead',
  ];
}

/** What is missing where several processes may run on several hosts. */
function withoutIndex({ databaseUrl, qdrant }: Config): string[] {
  if (databaseUrl === null || qdrant !== null) return [];
  return [
    'QDRANT_URL: separate processes on PostgreSQL may run on several hosts, each of which would search an index file ' +
      'of its own; set it for an index they share, or unset DATABASE_URL, or run the standalone app instead',
  ];
}
