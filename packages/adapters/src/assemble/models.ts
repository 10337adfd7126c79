import { builtinChat, builtinEmbedder } from '@slowwave/builtin-model';
import type { ChatModel, Embedder, Log, NearThresholds, Reranker } from '@slowwave/engine';
import type { Config } from '../config/index.ts';
import { meteredEmbedder } from '../metrics/index.ts';
import { endpointReranker, meteredReranker } from '../rerank/index.ts';
import { systemTools } from '../system/index.ts';
import type { Limits } from './limits.ts';
import type { Observer } from './observer.ts';

/**
 * Hashed vectors know words, not meanings: what shares next to no word may still be about the same thing. Of changes told
 * in other words none was below 0.17; of texts that have nothing to do with each other seven in ten are below 0.12.
 */
export const NEAR_HASHED: NearThresholds = { vector: 0.12, keyword: 0.2, overlap: 0.1 };
/** Real embeddings of unrelated facts about one person seldom fall below this. */
const NEAR_EMBEDDED: NearThresholds = { vector: 0.3, keyword: 0.5, overlap: 0.1 };

/** Loaded only where a server is asked: it is a tenth of all that a process would load. */
const servers = () => import('../openai/index.ts');

export async function openChat({ chatModel, openai }: Config, log: Log): Promise<ChatModel> {
  return chatModel === null ? builtinChat() : (await servers()).openaiChat({ ...openai, model: chatModel, log });
}

/**
 * Other chat models at the same place, by name, each with a breaker of its own: one that nobody knows leaves the
 * configured one alone. null where the place cannot be asked for another.
 */
export async function otherChats(
  { openai }: Config,
  { chat, limits, log }: Opened,
): Promise<(model: string) => ChatModel | null> {
  const opened = new Map([chat, builtinChat()].map((known) => [known.name, known]));
  const server = openai.apiKey === null && openai.baseUrl === null ? null : await servers();
  return (model) => {
    const known = opened.get(model);
    if (known !== undefined || server === null) return known ?? null;
    const other = limits.of(server.openaiChat({ ...openai, model, log }));
    opened.set(model, other);
    return other;
  };
}

interface Opened {
  /** The configured model. */
  readonly chat: ChatModel;
  readonly limits: Pick<Limits, 'of'>;
  readonly log: Log;
}

export const openImageModel = async ({ imageModel, openai }: Config, log: Log): Promise<ChatModel | null> =>
  imageModel === null ? null : (await servers()).openaiChat({ ...openai, model: imageModel, log });

/** A search does not wait longer for its results to be put in order. */
const RERANK_LIMIT_MS = 10_000;

export function openReranker({ reranker }: Config, { meter }: Pick<Observer, 'meter'>): Reranker | null {
  if (reranker === null) return null;
  const endpoint = endpointReranker({ ...reranker, timeoutMs: RERANK_LIMIT_MS });
  return meteredReranker(endpoint, { meter, tools: systemTools, model: reranker.model ?? 'reranker' });
}

export async function openEmbedder(config: Config, log: Log, { meter }: Pick<Observer, 'meter'>): Promise<Embedder> {
  return meteredEmbedder(await embedderOf(config, log), { meter, tools: systemTools });
}

async function embedderOf(config: Config, log: Log): Promise<Embedder> {
  const { embeddingModel, embeddingDimensions, openai } = config;
  if (embeddingModel === null) return builtinEmbedder(systemTools, embeddingDimensions ?? undefined);
  const { openaiEmbedder } = await servers();
  return openaiEmbedder({ ...openai, model: embeddingModel, dimensions: embeddingDimensions, log });
}

export const nearOf = ({ embeddingModel }: Config): NearThresholds =>
  embeddingModel === null ? NEAR_HASHED : NEAR_EMBEDDED;
