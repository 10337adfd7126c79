import type { EngineDeps } from '../deps.ts';
import { asEngineError, type EngineErrorCode } from '../errors.ts';
import type { Embedded, Embedder, TokenUse } from '../ports/models.ts';
import { askedInSlices, type Cancellation } from '../ports/tools.ts';
import type { LaneId } from '../words.ts';
import { embedderAnswers } from './away.ts';

interface Embedding {
  readonly lane: LaneId;
  /** Asked for again and again: vectors made before come from the ledger, new ones are kept there. */
  readonly texts: readonly string[];
  /** Needed this once: kept nowhere, unless the model refuses them. */
  readonly passing?: readonly string[];
  /** Vectors that were made before; those of lasting texts are kept already. */
  readonly made?: ReadonlyMap<string, Float32Array> | undefined;
}

/** Texts of one call of the embedder: what is done is kept, also where a later call fails. */
const TEXTS_PER_CALL = 256;

/**
 * Embeds texts of a lane, each at most once, all that are new together. One that the model refuses for good has a vector of
 * zeros, which nothing is like: it is found by its words. The ledger remembers that, so that the model is not asked again.
 */
export async function embedTexts(
  deps: Pick<EngineDeps, 'ledger' | 'embedder' | 'tools'>,
  { lane, texts, passing = [], made = new Map() }: Embedding,
  cancel: Cancellation,
): Promise<(text: string) => Float32Array> {
  const { ledger, embedder, tools } = deps;
  const lasting = new Set(texts);
  const others = [...lasting, ...passing].filter((text) => !made.has(text));
  const hashes = new Map(others.map((text) => [text, tools.hash(text)]));
  const ask = (some: readonly string[]) => ledger.thoughts.vectors(lane, embedder.fingerprint, some);
  const known = new Map(await askedInSlices(tools, [...hashes.values()], ask));
  const none = new Float32Array(embedder.dimensions);
  const vectors = new Map(made);
  for (const [text, hash] of hashes) {
    const vector = known.get(hash);
    if (vector !== undefined) vectors.set(text, vector ?? none);
  }
  const missing = [...hashes.keys()].filter((text) => !vectors.has(text));
  for (let at = 0; at < missing.length; at += TEXTS_PER_CALL) {
    const found = await embedded(embedder, missing.slice(at, at + TEXTS_PER_CALL), cancel);
    const kept = found.flatMap(([text, vector]) =>
      vector === null || lasting.has(text) ? pair(hashes.get(text), vector) : [],
    );
    if (kept.length > 0) await ledger.thoughts.storeVectors(lane, embedder.fingerprint, new Map(kept));
    for (const [text, vector] of found) vectors.set(text, vector ?? none);
  }
  return (text) => {
    const vector = vectors.get(text);
    if (vector === undefined) throw new Error('a text was asked for that was not embedded');
    return vector;
  };
}

async function embedded(
  embedder: Embedder,
  texts: readonly string[],
  cancel: Cancellation,
): Promise<[string, Float32Array | null][]> {
  const { vectors } = await embedder.embed(texts, cancel);
  return texts.flatMap((text, i) => pair(text, vectors[i]));
}

const pair = <T>(key: string | undefined, value: T | undefined): [string, T][] =>
  key === undefined || value === undefined ? [] : [[key, value]];

/** Nothing is embedded that was not before; what has no vector then goes by its words, and is not held to be refused. */
export const withoutVectors = <Deps extends Pick<EngineDeps, 'ledger' | 'embedder'>>(deps: Deps): Deps => ({
  ...deps,
  embedder: {
    ...deps.embedder,
    embed: async (texts: readonly string[]) => ({ vectors: texts.map(() => null), usage: NO_USE }),
  },
  ledger: { ...deps.ledger, thoughts: { ...deps.ledger.thoughts, storeVectors: async () => {} } },
});

const NO_USE: TokenUse = { promptTokens: 0, completionTokens: 0 };

/** The vector as a question to the index; null for one of zeros, which could only bring what is like nothing. */
export const askedBy = (vector: Float32Array): Float32Array | null =>
  vector.some((value) => value !== 0) ? vector : null;

/** Quick failures that may be of a text. What times out is not asked for again and again: each time would be as long. */
const MAY_BE_OF_A_TEXT: readonly EngineErrorCode[] = ['model_server_error', 'model_unreachable', 'model_rejected'];

/**
 * For texts on which a model has failed several times though it answers others: some servers break on a text instead of
 * refusing it. What fails together is asked apart, by halves; what fails alone is held to be refused.
 */
export const embedApart = (embedder: Embedder): Embedder => ({
  ...embedder,
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
