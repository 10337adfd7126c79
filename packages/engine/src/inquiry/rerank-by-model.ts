import { isObject, listUnder } from '../models/parse/listed.ts';
import { RERANK, type RerankInput } from '../models/prompts/rerank.ts';
import type { Relevance, Reranker } from '../ports/models.ts';
import { cleanText } from '../text/normalise.ts';
import { shorten } from '../text/tokens.ts';
import type { Json, JsonObject } from '../words.ts';
import { askReading, type Reader } from './think.ts';

/** Of one memory; what it is about stands in its beginning. */
const TEXT_TOKENS_MAX = 200;
const QUERY_TOKENS_MAX = 1_000;

/** A chat model as a reranker: one call for all memories. */
export const modelReranker = (reader: Omit<Reader, 'cancel'>): Reranker => ({
  rerank: async ({ query, documents }, cancel) => {
    const input: RerankInput = {
      query: shorten(cleanText(query).trim(), QUERY_TOKENS_MAX),
      memories: documents.map((text, i) => ({ id: String(i), text: shorten(cleanText(text).trim(), TEXT_TOKENS_MAX) })),
    };
    const { value } = await askReading(
      { ...reader, cancel },
      { prompt: RERANK, ask: 'Judge the memories.', input: input as unknown as JsonObject, shape: rankingIn },
    );
    return value.filter(({ index }) => index < documents.length);
  },
});

/** Each memory once, the first mention counts; null: no ranking at all. */
function rankingIn(value: Json): readonly Relevance[] | null {
  const items = listUnder(value, ['ranking', 'results', 'memories']);
  if (items === null) return null;
  const ranking = new Map<number, number>();
  for (const { item } of items) {
    const index = isObject(item) ? Number(item.id) : Number.NaN;
    const score = isObject(item) ? Number(item.relevance) : Number.NaN;
    if (Number.isInteger(index) && index >= 0 && Number.isFinite(score) && !ranking.has(index)) {
      ranking.set(index, Math.min(1, Math.max(0, score)));
    }
  }
  return [...ranking].map(([index, score]) => ({ index, score }));
}
