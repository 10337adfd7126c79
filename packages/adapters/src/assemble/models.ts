import type { ChatModel, Embedder, Log, NearThresholds } from '@slowwave/engine';
import { builtinChat, builtinEmbedder } from '../builtin/index.ts';
import type { Config } from '../config/index.ts';
import { meteredEmbedder } from '../metrics/index.ts';
import { openaiChat, openaiEmbedder } from '../openai/index.ts';
import { systemTools } from '../system/index.ts';
import type { Observer } from './observer.ts';

/**
 * Hashed vectors know words, not meanings: what shares next to no word may still be about the same thing. Of changes told
 * in other words none was below 0.17; of texts that have nothing to do with each other seven in ten are below 0.12.
 */
export const NEAR_HASHED: NearThresholds = { vector: 0.12, keyword: 0.2, overlap: 0.1 };
/** Real embeddings of unrelated facts about one person seldom fall below this. */
const NEAR_EMBEDDED: NearThresholds = { vector: 0.3, keyword: 0.5, overlap: 0.1 };

export function openChat({ chatModel, openai }: Config, log: Log): ChatModel {
  return chatModel === null ? builtinChat() : openaiChat({ ...openai, model: chatModel, log });
}

export const openImageModel = ({ imageModel, openai }: Config, log: Log): ChatModel | null =>
  imageModel === null ? null : openaiChat({ ...openai, model: imageModel, log });

export async function openEmbedder(config: Config, log: Log, { meter }: Pick<Observer, 'meter'>): Promise<Embedder> {
  return meteredEmbedder(await embedderOf(config, log), { meter, tools: systemTools });
}

async function embedderOf(config: Config, log: Log): Promise<Embedder> {
  const { embeddingModel, embeddingDimensions, openai } = config;
  if (embeddingModel === null) return builtinEmbedder(embeddingDimensions ?? undefined);
  return openaiEmbedder({ ...openai, model: embeddingModel, dimensions: embeddingDimensions, log });
}

export const nearOf = ({ embeddingModel }: Config): NearThresholds =>
  embeddingModel === null ? NEAR_HASHED : NEAR_EMBEDDED;
