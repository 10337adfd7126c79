import { z } from 'zod';
import { isRange } from '../net/address.ts';

const Count = (min: number, max: number) =>
  z.coerce
    .number(`must be a number from ${min} to ${max}`)
    .refine(
      (value) => Number.isInteger(value) && value >= min && value <= max,
      `must be a whole number from ${min} to ${max}`,
    );
const Url = (...protocols: string[]) =>
  z.string().refine((text) => protocols.includes(URL.parse(text)?.protocol ?? ''), {
    message: `must be a URL that begins with ${protocols.map((protocol) => `${protocol}//`).join(' or ')}`,
  });

const Flag = z
  .enum(['true', 'false'], 'must be true or false')
  .default('false')
  .transform((value) => value === 'true');

/** As OpenTelemetry has them: name=value pairs with commas between them, values percent-encoded. */
const Headers = z
  .string()
  .transform((text) => text.split(',').map(headerOf))
  .refine((pairs) => !pairs.includes(null), 'must be name=value pairs with commas between them')
  .transform((pairs) => Object.fromEntries(pairs.filter((pair) => pair !== null)))
  .optional();

/** null: not a header. */
function headerOf(pair: string): [string, string] | null {
  const [, name = '', value = ''] = /^\s*([\w!#$&'*+.^`|~-]+)\s*=\s*([\x21-\x7e]*)\s*$/.exec(pair) ?? [];
  try {
    return name === '' ? null : [name, decodeURIComponent(value)];
  } catch {
    return null;
  }
}

/** Addresses, ranges and names of hosts, with commas between them. */
const Hosts = z
  .string()
  .transform((text) => text.split(',').map((host) => host.trim()))
  .refine(
    (hosts) => hosts.every((host) => isRange(host) || HOST_NAME.test(host)),
    'must be addresses, ranges or names of hosts with commas between them, e.g. 10.0.0.0/8,receiver.internal',
  )
  .optional();

/** With a letter, so that a slip in an address does not pass for a name. */
const HOST_NAME = /^(?=.*[a-z])[a-z0-9_]([a-z0-9_.-]{0,251}[a-z0-9_])?$/i;

/** Names of models, with commas between them. */
const Models = z
  .string()
  .transform((text) => text.split(',').map((model) => model.trim()))
  .refine((models) => !models.includes(''), 'must be names of models with commas between them')
  .optional();

const HOUR_MS = 3_600_000;

/** Every setting there is. A description is what --help and .env.example say of it. */
export const ENVIRONMENT = z.object({
  SLOWWAVE_HOST: z.string().default('127.0.0.1').describe('Address to listen on; anything but loopback needs a key.'),
  SLOWWAVE_PORT: Count(0, 65_535)
    .optional()
    .describe('Port to listen on: 7070 standalone; 7071 ingest, 7072 search, 7073 console, 7074 worker.'),
  SLOWWAVE_DRAIN_MS: Count(0, 20_000)
    .optional()
    .describe('How long requests are still answered after SIGTERM, with /readyz at 503: 5000, on loopback 1000.'),
  SLOWWAVE_DATA_DIR: z
    .string()
    .default('.slowwave')
    .describe('Folder of ledger and index; relative to the root of the repository.'),
  SLOWWAVE_API_KEY: z
    .string()
    .min(16, 'must have at least 16 characters')
    .optional()
    .describe('Key of the operator, sent as "Authorization: Bearer …"; slowwave keys makes others.'),
  SLOWWAVE_KEY_RATE: Count(0, 1_000_000)
    .default(500)
    .describe('Requests a second that each given key may send to a process, twice as many at once; 0: no limit.'),
  SLOWWAVE_ALLOW_PRIVATE_URLS: Hosts.describe(
    'Addresses, ranges and hosts inside your network that URLs given by callers may lead to, over http too.',
  ),
  SLOWWAVE_WEBHOOK_DAYS: Count(1, 365)
    .default(14)
    .describe('Days for which deliveries of webhooks are kept, those that still wait included.'),
  SLOWWAVE_AUDIT: z
    .enum(['changes', 'all', 'off'], 'must be one of changes, all, off')
    .default('changes')
    .describe('What the audit log records: changes, what admins read and what was refused; searches too; or nothing.'),
  SLOWWAVE_AUDIT_DAYS: Count(1, 3_650).default(90).describe('Days for which entries of the audit log are kept.'),
  SLOWWAVE_URL: Url('http:', 'https:')
    .optional()
    .describe('Server that ./scripts/slowwave talks to; by default the one on this machine.'),
  SLOWWAVE_LOG_LEVEL: z
    .enum(['debug', 'info', 'warn', 'error', 'silent'], 'must be one of debug, info, warn, error, silent')
    .default('info')
    .describe('How much is logged; contents of messages and memories never are.'),
  REDIS_URL: Url('redis:', 'rediss:')
    .optional()
    .describe('Queue on Redis; without it on PostgreSQL, or in process (standalone only).'),
  DATABASE_URL: Url('postgres:', 'postgresql:')
    .optional()
    .describe(
      'Ledger, and queue without REDIS_URL, in PostgreSQL 13 or newer; without it the ledger is a SQLite file.',
    ),
  SLOWWAVE_DATABASE_CONNECTIONS: Count(12, 1_000)
    .optional()
    .describe('Most connections of one process to PostgreSQL: 24 with the queue there, 10 with the ledger alone.'),
  QDRANT_URL: Url('http:', 'https:')
    .optional()
    .describe('Index on Qdrant 1.18 or newer, e.g. http://127.0.0.1:6333; without it in a SQLite file.'),
  QDRANT_API_KEY: z.string().optional().describe('Key of the Qdrant server.'),
  SLOWWAVE_QDRANT_INDEX: z
    .string()
    .regex(/^[A-Za-z0-9_-]{1,64}$/, 'must be 1 to 64 letters, digits, - or _')
    .default('slowwave')
    .describe('Name of the index on the Qdrant server; every installation that shares one needs its own.'),
  SLOWWAVE_QDRANT_QUANTIZED: Flag.describe(
    'true: Qdrant keeps vectors in a quarter of the memory, and ranks the best exactly.',
  ),
  SLOWWAVE_QDRANT_ON_DISK: Flag.describe('true: Qdrant reads whole vectors from disk instead of memory.'),
  OPENAI_API_KEY: z.string().optional().describe('Key of the model server.'),
  OPENAI_BASE_URL: Url('http:', 'https:')
    .optional()
    .describe('Any OpenAI-compatible API, e.g. http://127.0.0.1:11434/v1.'),
  SLOWWAVE_CHAT_MODEL: z
    .string()
    .optional()
    .describe('Model that extracts and decides, or builtin: no model, for trying out.'),
  SLOWWAVE_TENANT_MODELS: Models.describe(
    'Other chat models that tenants may name for what-ifs, with commas between them; operators may name any.',
  ),
  SLOWWAVE_IMAGE_MODEL: z
    .string()
    .default('none')
    .describe('Model that describes images in messages, or none: messages with images are refused.'),
  SLOWWAVE_EMBEDDING_MODEL: z
    .string()
    .optional()
    .describe('Model that embeds, or builtin: hashed words, for trying out.'),
  SLOWWAVE_EMBEDDING_DIMENSIONS: Count(8, 8_192)
    .optional()
    .describe("Length of the vectors; by default the model's own."),
  SLOWWAVE_RERANK_URL: Url('http:', 'https:')
    .optional()
    .describe(
      'Reranker for searches that ask for one, as Cohere and Jina have it, e.g. http://127.0.0.1:8080/v1/rerank.',
    ),
  SLOWWAVE_RERANK_MODEL: z.string().optional().describe('Model of the reranker, where its server has several.'),
  SLOWWAVE_RERANK_API_KEY: z.string().optional().describe('Key of the reranker.'),
  SLOWWAVE_MODEL_TIMEOUT_MS: Count(100, 120_000).default(60_000).describe('Longest wait for one answer of a model.'),
  SLOWWAVE_BATCH_TOKENS: Count(1, 100_000)
    .default(1_024)
    .describe('An owner is consolidated as soon as this many tokens wait…'),
  SLOWWAVE_BATCH_IDLE_MS: Count(0, HOUR_MS)
    .optional()
    .describe('…or nothing new came for this long (60000; standalone 1000)…'),
  SLOWWAVE_BATCH_MAX_AGE_MS: Count(0, 24 * HOUR_MS)
    .default(600_000)
    .describe('…or the oldest batch has waited this long.'),
  SLOWWAVE_RECALL_PER_FACT: Count(1, 20).default(10).describe('Memories looked at for each new fact.'),
  SLOWWAVE_INDEX_MESSAGES: z
    .enum(['hybrid', 'keyword', 'off'], 'must be hybrid, keyword or off')
    .default('hybrid')
    .describe(
      'Raw messages found beside memories: by words and vectors (each is embedded once), by words, or not at all.',
    ),
  SLOWWAVE_PART_TOKENS: Count(500, 1_000_000)
    .default(24_000)
    .describe('Longer transcripts are read in parts of at most this many tokens; keep it below what the model takes.'),
  SLOWWAVE_DECIDE_TOKENS: Count(500, 1_000_000)
    .default(96_000)
    .describe('Facts and memories shown in one decision; more are decided in several calls.'),
  SLOWWAVE_RPM: Count(1, 1_000_000)
    .optional()
    .describe('Requests per minute the provider allows of the chat model, shared by all processes.'),
  SLOWWAVE_TPM: Count(1_000, 1_000_000_000)
    .optional()
    .describe('Tokens per minute the provider allows of the chat model, shared by all processes.'),
  SLOWWAVE_TENANT_TOKENS_PER_DAY: Count(0, 1_000_000_000_000)
    .optional()
    .describe('Tokens of chat models that each tenant may use a day (UTC), whatever its own budgets say…'),
  SLOWWAVE_TENANT_COST_PER_DAY: z.coerce
    .number('must be an amount of money, e.g. 2.50')
    .min(0, 'must not be below 0')
    .optional()
    .describe(
      '…and what they may cost, by the prices of the tenant default; slowwave tenants ceilings sets others for one.',
    ),
  SLOWWAVE_MAX_PENDING: Count(1, 1_000_000_000)
    .default(100_000)
    .describe('Waiting batches of one tenant from which on new ones are answered with 429…'),
  SLOWWAVE_MAX_PENDING_TOTAL: Count(1, 1_000_000_000).default(1_000_000).describe('…and of all tenants together.'),
  SLOWWAVE_MAX_LATE_MS: Count(60_000, 30 * 24 * HOUR_MS)
    .default(HOUR_MS)
    .describe(
      'While 50 users of a tenant have been due for longer than this, its new batches are answered with 429. Backfill does not count.',
    ),
  SLOWWAVE_CONCURRENCY: Count(1, 500)
    .default(20)
    .describe('Calls of chat models at a time in one worker; it consolidates half as many owners more meanwhile.'),
  SLOWWAVE_TAKE_OVER_MS: Count(1_000, HOUR_MS)
    .default(30_000)
    .describe(
      'A worker that was silent this long is taken for dead, and within a quarter as long again others take over its work.',
    ),
  SLOWWAVE_MAX_ATTEMPTS: Count(1, 100).default(5).describe('Failed tries before a batch is parked.'),
  SLOWWAVE_RETRY_DELAY_MS: Count(1, HOUR_MS)
    .default(2_000)
    .describe('Wait after a first failed try; it doubles up to five minutes.'),
  OTEL_EXPORTER_OTLP_ENDPOINT: Url('http:', 'https:')
    .optional()
    .describe('Collector of OpenTelemetry traces, e.g. http://127.0.0.1:4318; without it there are none.'),
  OTEL_EXPORTER_OTLP_HEADERS: Headers.describe('Headers for the collector: name=value,name=value.'),
  OTEL_EXPORTER_OTLP_PROTOCOL: z
    .enum(['http/json'], 'must be http/json, which collectors take on the port of OTLP/HTTP (4318)')
    .default('http/json')
    .describe('How traces are sent.'),
});

export type Environment = z.infer<typeof ENVIRONMENT>;
