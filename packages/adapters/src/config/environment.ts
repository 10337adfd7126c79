import { resolve } from 'node:path';
import { z } from 'zod';
import {
  Count,
  EmbeddingModel,
  ExtraBody,
  ExtraOfChat,
  Flag,
  Headers,
  Hosts,
  JsonHeaders,
  LOCAL_MODELS,
  Models,
  Nodes,
  Origins,
  Url,
} from './kinds.ts';
import { FALLBACK_SETTINGS, STEP_SETTINGS } from './step-settings.ts';
import { COLD_SETTINGS, QDRANT_SETTINGS } from './stores.ts';

const HOUR_MS = 3_600_000;

/** Whether this is the package as npm installs it, where all sources are JavaScript, and not the repository. */
export const INSTALLED = import.meta.filename.endsWith('.js');

/** Where relative paths begin: at the root of the repository, or where an installed program was started. */
export const ROOT = INSTALLED ? process.cwd() : resolve(import.meta.dirname, '../../../..');

/** Folder of the ledger and the index. An installed program finds it from wherever it is started. */
const USUAL_FOLDER = INSTALLED ? '~/.slowwave' : '.slowwave';

/** What people type to start a server and to use the command line. */
export const STARTED_BY = INSTALLED ? 'slowwave start' : './scripts/start';
export const CALLED_BY = INSTALLED ? 'slowwave' : './scripts/slowwave';

/** Every setting there is. Its description is what --help, .env.example and docs/settings.md say about it. */
export const ENVIRONMENT = z.object({
  SLOWWAVE_HOST: z
    .string()
    .default('127.0.0.1')
    .describe('Address to listen on. Any address other than loopback requires a key.'),
  SLOWWAVE_PORT: Count(0, 65_535)
    .optional()
    .describe(
      'Port to listen on. Default: 7070 standalone, 7071 ingest, 7072 search, 7073 console, 7074 worker, 7075 router.',
    ),
  SLOWWAVE_DRAIN_MS: Count(0, 20_000)
    .optional()
    .describe(
      'How long requests are still answered after SIGTERM, with /readyz at 503. Default: 5000, or 1000 on loopback.',
    ),
  SLOWWAVE_DATA_DIR: z
    .string()
    .default(USUAL_FOLDER)
    .describe(
      'Directory of the ledger and the index. A relative path starts at the root of the repository. Installed from npm, it starts at the current folder, and the default is ~/.slowwave.',
    ),
  SLOWWAVE_API_KEY: z
    .string()
    .min(16, 'must have at least 16 characters')
    .optional()
    .describe('Operator key, sent as "Authorization: Bearer …". slowwave keys creates further keys.'),
  SLOWWAVE_KEY_RATE: Count(0, 1_000_000)
    .default(500)
    .describe(
      'Requests per second allowed for each created key in each process. Bursts may be twice as large. 0: no limit.',
    ),
  SLOWWAVE_ALLOW_PRIVATE_URLS: Hosts.describe(
    'Addresses, ranges and hosts in your network that URLs from callers may point to, also over http. Comma-separated.',
  ),
  SLOWWAVE_FRAME_ANCESTORS: Origins.describe(
    'Sites that may show the page at /me, where people see what is remembered about them, in a frame. Comma-separated origins. Default: none.',
  ),
  SLOWWAVE_MEM0_RESET: Flag.describe(
    'true: admins may erase every user, agent and run of their tenant at once with POST /mem0/reset.',
  ),
  SLOWWAVE_WEBHOOK_DAYS: Count(1, 365)
    .default(14)
    .describe('Retention of webhook deliveries in days, including those still waiting.'),
  SLOWWAVE_AUDIT: z
    .enum(['changes', 'all', 'off'], 'must be one of changes, all, off')
    .default('changes')
    .describe(
      'What the audit log records. changes: changes, reads by admins and refused requests; all: searches too; off: nothing.',
    ),
  SLOWWAVE_AUDIT_DAYS: Count(1, 3_650).default(90).describe('Retention of audit log entries in days.'),
  SLOWWAVE_RECEIPT_DAYS: Count(0, 365)
    .default(7)
    .describe('Retention of receipts in days. A receipt records which memories an answer contained. 0: no receipts.'),
  SLOWWAVE_URL: Url('http:', 'https:')
    .optional()
    .describe(
      'Address of the whole API. The command line talks to it (default: the standalone server on this machine), and a separate ' +
        'search process sends changes by tools at /mcp there.',
    ),
  SLOWWAVE_LOG_LEVEL: z
    .enum(['debug', 'info', 'warn', 'error', 'silent'], 'must be one of debug, info, warn, error, silent')
    .default('info')
    .describe('Log level: debug, info, warn, error or silent. The contents of messages and memories are never logged.'),
  REDIS_URL: Url('redis:', 'rediss:')
    .optional()
    .describe('Redis server for the queue. Without it the queue is in PostgreSQL, or in process (standalone only).'),
  SLOWWAVE_REDIS_CLUSTER: Nodes.describe(
    'Further nodes of a Redis Cluster, as host:port,host:port. REDIS_URL is then one of its nodes.',
  ),
  SLOWWAVE_QUEUE_SHARDS: Count(1, 64)
    .default(1)
    .describe(
      'Number of queues over which turns are spread. All processes need the same value. On a Redis Cluster each queue is on one node.',
    ),
  DATABASE_URL: Url('postgres:', 'postgresql:')
    .optional()
    .describe(
      'PostgreSQL 13 or newer for the ledger, and for the queue if REDIS_URL is not set. Without it the ledger is a SQLite file.',
    ),
  SLOWWAVE_DATABASE_CONNECTIONS: Count(2, 1_000)
    .optional()
    .describe(
      'Maximum number of PostgreSQL connections per process. Default: 24 with the queue in PostgreSQL (at least 12), otherwise 8 with the index there, otherwise 4.',
    ),
  SLOWWAVE_INDEX: z
    .enum(['postgres'], 'must be postgres, or not set')
    .optional()
    .describe(
      'postgres: the index is in the PostgreSQL of DATABASE_URL. Default: on Qdrant if QDRANT_URL is set, otherwise a SQLite file.',
    ),
  ...QDRANT_SETTINGS,
  ...COLD_SETTINGS,
  OPENAI_API_KEY: z.string().optional().describe('API key of the model server.'),
  OPENAI_BASE_URL: Url('http:', 'https:')
    .optional()
    .describe(
      'Base URL of an OpenAI-compatible API, e.g. http://127.0.0.1:11434/v1. Default: OpenAI, if OPENAI_API_KEY is set.',
    ),
  SLOWWAVE_CHAT_MODEL: z
    .string()
    .optional()
    .describe(
      'Chat model that extracts facts and decides. Default: gpt-4.1-mini; without a model server builtin, for trials only.',
    ),
  SLOWWAVE_CHAT_API: z
    .enum(['openai', 'anthropic'], 'must be openai or anthropic')
    .default('openai')
    .describe(
      'API of the model server: openai (chat completions, offered by nearly all servers) or anthropic (the Messages API; set its key in OPENAI_API_KEY).',
    ),
  SLOWWAVE_CHAT_TRY: z
    .enum(['on', 'off'], 'must be on or off')
    .default('on')
    .describe(
      'on: each worker sends the chat model one tiny request when it starts, so that a wrong key is noticed early. The start does not wait for the answer.',
    ),
  SLOWWAVE_CHAT_MAX_OUTPUT_TOKENS: Count(0, 1_000_000)
    .optional()
    .describe(
      'Maximum tokens of one answer of a chat or image model, including reasoning. 0: no limit is sent. Default: 1,000 plus four times the tokens of the prompt, at most 32,000.',
    ),
  SLOWWAVE_CHAT_STREAM: z
    .enum(['auto', 'on', 'off'], 'must be auto, on or off')
    .default('auto')
    .describe(
      'Whether answers of chat and image models are streamed. auto: if the server accepts streaming and counts tokens. on: even if it does not count tokens.',
    ),
  SLOWWAVE_CHAT_IDLE_TIMEOUT_MS: Count(100, 900_000)
    .default(30_000)
    .describe(
      'Timeout for pauses within a streamed answer of a chat or image model. The time before the first token does not count.',
    ),
  SLOWWAVE_CHAT_EXTRA_BODY: ExtraOfChat.optional().describe(
    'JSON object added to each request to the chat model; its fields override those that Slowwave sends, e.g. {"reasoning_effort": "low"}.',
  ),
  SLOWWAVE_CHAT_EXTRA_HEADERS: JsonHeaders.optional().describe(
    'JSON object of headers added to each request to the chat model, e.g. {"api-key": "…"}. Never logged.',
  ),
  SLOWWAVE_CHAT_BATCHES: z
    .enum(['off', 'backfill'], 'must be off or backfill')
    .default('off')
    .describe(
      'backfill: for owners with only backfill waiting, facts are extracted with OpenAI’s batch API, at half the price and within a day. A live message takes the owner out of the batch job.',
    ),
  SLOWWAVE_TENANT_MODELS: Models.optional().describe(
    'Further chat models that tenants may choose for steps and what-if replays, comma-separated. Operators may choose any.',
  ),
  SLOWWAVE_IMAGE_MODEL: z
    .string()
    .default('none')
    .describe('Model that describes images in messages. none: messages with images are refused.'),
  SLOWWAVE_IMAGE_BASE_URL: Url('http:', 'https:')
    .optional()
    .describe('Base URL of a separate server for the image model. Default: the server of the chat model.'),
  SLOWWAVE_IMAGE_API_KEY: z
    .string()
    .optional()
    .describe('API key of the image server. Default: OPENAI_API_KEY, which another base URL never receives.'),
  SLOWWAVE_IMAGE_EXTRA_BODY: ExtraOfChat.optional().describe(
    'JSON object added to each request to the image model, in the same way.',
  ),
  SLOWWAVE_IMAGE_EXTRA_HEADERS: JsonHeaders.optional().describe(
    'JSON object of headers added to each request to the image model.',
  ),
  SLOWWAVE_EMBEDDING_MODEL: EmbeddingModel.optional().describe(
    `Embedding model. local: ${LOCAL_MODELS[0]}, run in this process without a server; local:NAME for ${LOCAL_MODELS.slice(1).join(', ')}; local:FOLDER for a folder with model.onnx, tokenizer.json and config.json. Default: text-embedding-3-small; without a model server builtin (hashed words), for trials only.`,
  ),
  SLOWWAVE_EMBEDDING_DIMENSIONS: Count(8, 8_192)
    .optional()
    .describe("Length of the vectors. Default: the model's own length, which local models always use."),
  SLOWWAVE_EMBEDDING_QUERY_PREFIX: z
    .string()
    .optional()
    .describe(
      'Text added before each query that is embedded, e.g. "query: ". none: nothing. Default: the prefix the model family was trained with.',
    ),
  SLOWWAVE_EMBEDDING_DOCUMENT_PREFIX: z
    .string()
    .optional()
    .describe('The same for each memory and message, e.g. "passage: ".'),
  SLOWWAVE_EMBEDDING_BASE_URL: Url('http:', 'https:')
    .optional()
    .describe(
      'Base URL of a separate server for embeddings, e.g. http://127.0.0.1:8080/v1. Default: the server of the chat model.',
    ),
  SLOWWAVE_EMBEDDING_API_KEY: z
    .string()
    .optional()
    .describe('API key of the embedding server. Default: OPENAI_API_KEY, which another base URL never receives.'),
  SLOWWAVE_EMBEDDING_EXTRA_BODY: ExtraBody('model', 'input', 'encoding_format')
    .optional()
    .describe(
      'JSON object added to each embedding request, in the same way, e.g. {"keep_alive": "1h"}. The index is rebuilt when it changes.',
    ),
  SLOWWAVE_EMBEDDING_EXTRA_HEADERS: JsonHeaders.optional().describe(
    'JSON object of headers added to each embedding request.',
  ),
  SLOWWAVE_NEXT_EMBEDDING_MODEL: EmbeddingModel.optional().describe(
    'Embedding model to move the index to while the current one stays in use; see docs/embedders.md. Default: none.',
  ),
  SLOWWAVE_NEXT_EMBEDDING_DIMENSIONS: Count(8, 8_192)
    .optional()
    .describe('SLOWWAVE_EMBEDDING_DIMENSIONS of the next model.'),
  SLOWWAVE_NEXT_EMBEDDING_QUERY_PREFIX: z
    .string()
    .optional()
    .describe('SLOWWAVE_EMBEDDING_QUERY_PREFIX of the next model.'),
  SLOWWAVE_NEXT_EMBEDDING_DOCUMENT_PREFIX: z
    .string()
    .optional()
    .describe('SLOWWAVE_EMBEDDING_DOCUMENT_PREFIX of the next model.'),
  SLOWWAVE_NEXT_EMBEDDING_BASE_URL: Url('http:', 'https:')
    .optional()
    .describe('SLOWWAVE_EMBEDDING_BASE_URL of the next model. Default: the server of the chat model.'),
  SLOWWAVE_NEXT_EMBEDDING_API_KEY: z.string().optional().describe('SLOWWAVE_EMBEDDING_API_KEY of the next model.'),
  SLOWWAVE_NEXT_EMBEDDING_EXTRA_BODY: ExtraBody('model', 'input', 'encoding_format')
    .optional()
    .describe('SLOWWAVE_EMBEDDING_EXTRA_BODY of the next model.'),
  SLOWWAVE_NEXT_EMBEDDING_EXTRA_HEADERS: JsonHeaders.optional().describe(
    'SLOWWAVE_EMBEDDING_EXTRA_HEADERS of the next model.',
  ),
  SLOWWAVE_MODEL_HUB_URL: Url('http:', 'https:')
    .default('https://huggingface.co')
    .describe('Where local models are downloaded from, once. Set it to use a mirror.'),
  SLOWWAVE_RERANK_URL: Url('http:', 'https:')
    .optional()
    .describe(
      'Reranker with the API of Cohere and Jina, e.g. http://127.0.0.1:8080/v1/rerank. Used by searches that request it.',
    ),
  SLOWWAVE_RERANK_MODEL: z.string().optional().describe('Reranking model, if the server has more than one.'),
  SLOWWAVE_RERANK_API_KEY: z.string().optional().describe('API key of the reranker.'),
  SLOWWAVE_RERANK_EXTRA_BODY: ExtraBody('model', 'query', 'documents')
    .optional()
    .describe('JSON object added to each request to the reranker, in the same way.'),
  SLOWWAVE_RERANK_EXTRA_HEADERS: JsonHeaders.optional().describe(
    'JSON object of headers added to each request to the reranker.',
  ),
  SLOWWAVE_MODEL_TIMEOUT_MS: Count(100, 900_000)
    .default(60_000)
    .describe('Timeout of one model call, up to the last byte of the answer. Raise it for slow models, e.g. on a CPU.'),
  ...FALLBACK_SETTINGS,
  ...STEP_SETTINGS,
  SLOWWAVE_BATCH_TOKENS: Count(1, 100_000)
    .default(1_024)
    .describe('An owner is consolidated as soon as this many tokens are waiting.'),
  SLOWWAVE_BATCH_EXCHANGES: Count(1, 1_000)
    .optional()
    .describe('An owner is consolidated as soon as this many user messages are waiting. Default: no limit.'),
  SLOWWAVE_BATCH_IDLE_MS: Count(0, HOUR_MS)
    .optional()
    .describe(
      'An owner is consolidated when nothing new has arrived for this long. Default: three times the owner’s usual gap ' +
        'between posts, but at least 60000 (standalone 15000); standalone with the builtin model 1000.',
    ),
  SLOWWAVE_BATCH_MAX_AGE_MS: Count(0, 24 * HOUR_MS)
    .optional()
    .describe(
      'An owner is consolidated when the oldest batch has waited this long. Default: 600000, standalone 120000.',
    ),
  SLOWWAVE_RECALL_PER_FACT: Count(1, 20)
    .default(10)
    .describe('Number of existing memories each new fact is compared with.'),
  SLOWWAVE_INDEX_MESSAGES: z
    .enum(['hybrid', 'keyword', 'off'], 'must be hybrid, keyword or off')
    .default('hybrid')
    .describe(
      'How searches find raw messages. hybrid: by keywords and vectors (each message is embedded once); keyword: by keywords; off: not at all.',
    ),
  SLOWWAVE_PART_TOKENS: Count(500, 1_000_000)
    .default(24_000)
    .describe(
      'Longer transcripts are read in parts of this many tokens. Keep it below the context window of the model.',
    ),
  SLOWWAVE_DECIDE_TOKENS: Count(500, 1_000_000)
    .default(96_000)
    .describe('Maximum size of one decision call. Further facts and memories are sent in additional calls.'),
  SLOWWAVE_RPM: Count(1, 1_000_000)
    .optional()
    .describe('Requests per minute that the provider allows for the chat model, shared by all processes.'),
  SLOWWAVE_TPM: Count(1_000, 1_000_000_000)
    .optional()
    .describe('Tokens per minute that the provider allows for the chat model, shared by all processes.'),
  SLOWWAVE_TENANT_TOKENS_PER_DAY: Count(0, 1_000_000_000_000)
    .optional()
    .describe('Maximum chat model tokens per tenant and day (UTC). Applies regardless of the tenant’s own budgets.'),
  SLOWWAVE_TENANT_COST_PER_DAY: z.coerce
    .number('must be an amount of money, e.g. 2.50')
    .min(0, 'must not be below 0')
    .optional()
    .describe(
      'Maximum chat model cost per tenant and day, at the prices set for the tenant default. slowwave tenants ceilings overrides both for one tenant.',
    ),
  SLOWWAVE_MAX_PENDING: Count(1, 1_000_000_000)
    .default(100_000)
    .describe('Maximum number of waiting batches per tenant. Further batches are refused with 429.'),
  SLOWWAVE_MAX_PENDING_TOTAL: Count(1, 1_000_000_000)
    .default(1_000_000)
    .describe('Maximum number of waiting batches of all tenants together.'),
  SLOWWAVE_MAX_LATE_MS: Count(60_000, 30 * 24 * HOUR_MS)
    .default(HOUR_MS)
    .describe(
      "A tenant's new batches are refused with 429 while 50 of its users are overdue by more than this. Backfill does not count.",
    ),
  SLOWWAVE_CONCURRENCY: Count(1, 500)
    .default(20)
    .describe(
      'Concurrent chat model calls per worker. A worker processes 1.5 times as many owners, to keep the model busy.',
    ),
  SLOWWAVE_EMBEDDING_CONCURRENCY: Count(1, 100)
    .default(2)
    .describe(
      'Concurrent embedding requests per worker for background work. Searches and explicit writes are not limited.',
    ),
  SLOWWAVE_WORKER_PRIORITY: z
    .enum(['low', 'normal'])
    .default('low')
    .describe(
      'CPU priority of worker processes. low: on a busy machine all other processes go first, so requests are answered quickly, but workers may start slowly; normal: the same as other processes.',
    ),
  SLOWWAVE_TAKE_OVER_MS: Count(1_000, HOUR_MS)
    .default(6_000)
    .describe(
      'Lock timeout. A worker process that is silent for this long is considered dead; its jobs are reassigned within 1.25 × this. A busy worker is not considered silent unless a single step takes 5 × this.',
    ),
  SLOWWAVE_GATE: z
    .enum(['report', 'wait'])
    .default('report')
    .describe(
      'For tenants with a gate whose current models and prompts have not passed a run of its suite. report: slowwave doctor reports it; wait: consolidations wait.',
    ),
  SLOWWAVE_MAX_ATTEMPTS: Count(1, 100).default(5).describe('Failed attempts before a batch is parked.'),
  SLOWWAVE_RETRY_DELAY_MS: Count(1, HOUR_MS)
    .default(2_000)
    .describe('Delay before the first retry. It doubles with each retry, up to five minutes.'),
  SLOWWAVE_CELL: z
    .string()
    .regex(/^[a-z0-9][a-z0-9-]{0,31}$/, 'must be 1 to 32 of a-z, 0-9, "-"')
    .optional()
    .describe(
      'Name of this installation as a cell, if users are split over several installations; see docs/cells.md. All processes of a cell need the same name. Default: this is the only installation.',
    ),
  SLOWWAVE_DIRECTORY: z
    .string()
    .optional()
    .describe(
      'Directory of cells, for the router and slowwave cells: a SQLite file, or a postgres:// URL for routers on several machines.',
    ),
  SLOWWAVE_MOVES: Count(0, 64)
    .default(4)
    .describe('Number of owners that each router moves between cells at a time. 0: none.'),
  OTEL_EXPORTER_OTLP_ENDPOINT: Url('http:', 'https:')
    .optional()
    .describe('OpenTelemetry collector for traces, e.g. http://127.0.0.1:4318. Without it no traces are sent.'),
  OTEL_EXPORTER_OTLP_HEADERS: Headers.describe('Headers sent to the collector: name=value,name=value.'),
  OTEL_EXPORTER_OTLP_PROTOCOL: z
    .enum(['http/json'], 'must be http/json (OTLP/HTTP, usually port 4318)')
    .default('http/json')
    .describe('Protocol of the collector.'),
});

export type Environment = z.infer<typeof ENVIRONMENT>;

/** Settings by name, before they are checked. */
export type Given = Readonly<Record<string, string | undefined>>;
