import { estimateTokens } from '@slowwave/engine';
import type { EmbeddingCreateParams } from 'openai/resources/embeddings';
import { type Complaint, complainsAbout } from './complaint.ts';

/**
 * OpenAI's models take 8,191 tokens per text and refuse the whole request for one text that is longer. What a text is
 * about stands in its first pages, so the rest is left out of the vector rather than the text out of the index.
 */
export const TEXT_TOKENS_MAX = 8_000;
const BATCH_TEXTS_MAX = 256; // some servers stop at 256, OpenAI at 2,048
const BATCH_TOKENS_MAX = 100_000; // a third of what OpenAI takes: ours is an estimate

/** What a server is known to take beside the texts. */
export interface Manners {
  readonly dimensions: number | null;
  /** Vectors in base64, a quarter of the size. */
  readonly base64: boolean;
}

/** The same manners without what the server complains about; null when that is something else. */
export function withoutRefused(manners: Manners, complaint: Complaint): Manners | null {
  if (manners.dimensions !== null && complainsAbout(complaint, /dimension|matryoshka/iu))
    return { ...manners, dimensions: null };
  if (manners.base64 && complainsAbout(complaint, /encoding.?format|base64/iu)) return { ...manners, base64: false };
  return null;
}

export function embeddingRequest(model: string, texts: readonly string[], manners: Manners): EmbeddingCreateParams {
  return {
    model,
    input: [...texts],
    ...(manners.dimensions === null ? {} : { dimensions: manners.dimensions }),
    // Left out, the library asks for base64 and decodes it.
    ...(manners.base64 ? {} : { encoding_format: 'float' as const }),
  };
}

/** Texts in groups that a server takes at once, in order. */
export function inBatches(texts: readonly string[]): string[][] {
  const batches: string[][] = [];
  let room = 0;
  for (const text of texts) {
    const tokens = Math.min(estimateTokens(text), TEXT_TOKENS_MAX);
    const last = batches.at(-1);
    if (last === undefined || last.length === BATCH_TEXTS_MAX || tokens > room) {
      batches.push([text]);
      room = BATCH_TOKENS_MAX - tokens;
    } else {
      last.push(text);
      room -= tokens;
    }
  }
  return batches;
}

/** A text as a server takes it: never empty, never too long, no half characters. */
export function acceptable(text: string, tokensMax: number): string {
  return text.trim() === '' ? ' ' : firstTokens(text, tokensMax).toWellFormed();
}

/** The beginning of a text, up to about so many tokens. */
function firstTokens(text: string, limit: number): string {
  if (text.length <= limit || estimateTokens(text) <= limit) return text; // no character costs more than a token
  let fits = limit;
  let tooLong = text.length;
  while (tooLong - fits > 1) {
    const middle = Math.floor((fits + tooLong) / 2);
    if (estimateTokens(text.slice(0, middle)) <= limit) fits = middle;
    else tooLong = middle;
  }
  return text.slice(0, fits);
}
