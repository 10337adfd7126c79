import type { EngineSettings } from '@slowwave/engine';
import type { Config } from '../config/index.ts';
import { placeOf } from '../postgres/index.ts';
import { nearOf } from './models.ts';

/** One consolidation reads at most this much at once: what a small model still extracts from with care. */
const WINDOW = { maxTokens: 6_000, maxBatches: 100 };
const RECENT_MESSAGES = 10;
const RETRY_DELAY_MAX_MS = 300_000;
const DELETES_PER_CONSOLIDATION = 10;

export const engineSettings = (config: Config): EngineSettings => ({
  due: config.due,
  window: WINDOW,
  recallPerFact: config.recallPerFact,
  messagesInIndex: config.messagesInIndex,
  recentMessages: RECENT_MESSAGES,
  partTokens: config.partTokens,
  decideTokens: config.decideTokens,
  maxAttempts: config.maxAttempts,
  retryDelayMs: config.retryDelayMs,
  retryDelayMaxMs: RETRY_DELAY_MAX_MS,
  deletesPerConsolidation: DELETES_PER_CONSOLIDATION,
  near: nearOf(config),
  ceilings: config.ceilings,
});

/** What a process runs on, as anybody may know it at /healthz: kinds, and nothing of where they are. */
export const kindsOf = (config: Config): Record<string, string> => ({
  ledger: config.databaseUrl === null ? 'SQLite' : 'PostgreSQL',
  index: config.qdrant === null ? 'SQLite' : 'Qdrant',
  queue: queueKind(config),
  chat_model: modelKind(config.chatModel),
  image_model: config.imageModel === null ? 'none' : OPENAI,
  embedding_model: modelKind(config.embeddingModel),
  reranker: config.reranker === null ? 'none' : 'a server',
});

const OPENAI = 'OpenAI-compatible';
const modelKind = (model: string | null): string => (model === null ? 'builtin' : OPENAI);

function queueKind({ redisUrl, databaseUrl }: Config): string {
  if (redisUrl !== null) return 'Redis';
  return databaseUrl === null ? 'in process' : 'PostgreSQL';
}

/** The same with places, in words, for the operator: printed and logged at the start. */
export const runsOn = (config: Config): Record<string, string> => ({
  ledger: config.databaseUrl === null ? `sqlite in ${config.dataDir}` : `postgresql at ${placeOf(config.databaseUrl)}`,
  index: config.qdrant === null ? `sqlite in ${config.dataDir}` : `qdrant at ${new URL(config.qdrant.url).host}`,
  queue: queueOf(config),
  chat_model: config.chatModel ?? 'builtin (no model; for evaluation and tests only)',
  image_model: config.imageModel ?? 'none (messages with images are rejected)',
  model_limits: limitsIn(config),
  embedding_model: config.embeddingModel ?? 'builtin (hashed words; for evaluation and tests only)',
  reranker:
    config.reranker === null ? 'none' : `${config.reranker.model ?? 'one'} at ${new URL(config.reranker.url).host}`,
});

function limitsIn({ limits: { requestsPerMinute, tokensPerMinute } }: Config): string {
  const said = [
    ...(requestsPerMinute === null ? [] : [`${requestsPerMinute} requests`]),
    ...(tokensPerMinute === null ? [] : [`${tokensPerMinute} tokens`]),
  ];
  return said.length === 0 ? 'none' : `${said.join(' and ')} a minute`;
}

function queueOf({ redisUrl, databaseUrl }: Config): string {
  if (redisUrl !== null) return `bullmq on redis ${new URL(redisUrl).host}`;
  return databaseUrl === null ? 'bullmq in process' : `bullmq on postgresql at ${placeOf(databaseUrl)}`;
}
