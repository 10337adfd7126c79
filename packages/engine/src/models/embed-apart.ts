import { asEngineError, type EngineErrorCode } from '../errors.ts';
import type { Embedded, Embedder } from '../ports/models.ts';
import type { Cancellation } from '../ports/tools.ts';
import { embedderAnswers } from './doubt.ts';

/** Quick failures that may be of a text. What times out is not asked for again and again: each time would be as long. */
const MAY_BE_OF_A_TEXT: readonly EngineErrorCode[] = ['model_server_error', 'model_unreachable', 'model_rejected'];

/**
 * For texts on which a model has failed several times though it answers others: some servers break on a text instead of
 * refusing it. What fails together is asked apart, by halves; what fails alone is held to be refused.
 */
export const embedApart = (embedder: Embedder): Embedder => ({
  fingerprint: embedder.fingerprint,
  dimensions: embedder.dimensions,
  embed: (texts, cancel) => apart(embedder, texts, cancel),
});

async function apart(embedder: Embedder, texts: readonly string[], cancel: Cancellation): Promise<Embedded> {
  try {
    return await embedder.embed(texts, cancel);
  } catch (error) {
    const { code, countsAsTry } = asEngineError(error);
    if (cancel.aborted || !countsAsTry || !MAY_BE_OF_A_TEXT.includes(code)) throw error;
    if (!(await embedderAnswers({ embedder }, cancel))) throw error;
    if (texts.length === 1) return { vectors: [null], usage: { promptTokens: 0, completionTokens: 0 } };
    const middle = Math.ceil(texts.length / 2);
    const left = await apart(embedder, texts.slice(0, middle), cancel);
    const right = await apart(embedder, texts.slice(middle), cancel);
    const promptTokens = left.usage.promptTokens + right.usage.promptTokens;
    return { vectors: [...left.vectors, ...right.vectors], usage: { promptTokens, completionTokens: 0 } };
  }
}
