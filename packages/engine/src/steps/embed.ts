import type { EngineDeps } from '../deps.ts';
import { EngineError, type EngineErrorCode } from '../errors.ts';
import type { Cancellation } from '../ports/tools.ts';
import type { LaneId } from '../words.ts';

interface Embedding {
  readonly lane: LaneId;
  /** Asked for again and again: vectors made before come from the ledger, new ones are kept there. */
  readonly texts: readonly string[];
  /** Needed this once: kept nowhere. One that the model does not take has a vector of zeros, which nothing is like. */
  readonly passing?: readonly string[];
  /** Vectors of passing texts that were made before. */
  readonly made?: ReadonlyMap<string, Float32Array> | undefined;
}

/** Embeds texts of a lane, each at most once, all that are new in one call. */
export async function embedTexts(
  deps: Pick<EngineDeps, 'ledger' | 'embedder' | 'tools'>,
  { lane, texts, passing = [], made = new Map() }: Embedding,
  cancel: Cancellation,
): Promise<(text: string) => Float32Array> {
  const { ledger, embedder, tools } = deps;
  const hashes = new Map([...new Set(texts)].map((text) => [text, tools.hash(text)]));
  const known = await ledger.thoughts.vectors(lane, embedder.fingerprint, [...hashes.values()]);
  const vectors = new Map(made);
  for (const [text, hash] of hashes) {
    const vector = known.get(hash);
    if (vector !== undefined) vectors.set(text, vector);
  }
  const isMissing = (text: string): boolean => !vectors.has(text);
  const lasting = [...hashes.keys()].filter(isMissing);
  const others = [...new Set(passing)].filter((text) => isMissing(text) && !hashes.has(text));
  for (const [text, vector] of await embedded(deps, { lasting, others }, cancel)) vectors.set(text, vector);
  const kept = lasting.flatMap((text) => pair(hashes.get(text), vectors.get(text)));
  if (kept.length > 0) await ledger.thoughts.storeVectors(lane, embedder.fingerprint, new Map(kept));
  return (text) => {
    const vector = vectors.get(text);
    if (vector === undefined) throw new Error('a text was asked for that was not embedded');
    return vector;
  };
}

/** Of a text itself, whoever sends it. */
const REFUSALS: readonly EngineErrorCode[] = ['model_rejected', 'context_too_long'];

interface Missing {
  readonly lasting: readonly string[];
  readonly others: readonly string[];
}

async function embedded(
  { embedder }: Pick<EngineDeps, 'embedder'>,
  { lasting, others }: Missing,
  cancel: Cancellation,
): Promise<[string, Float32Array][]> {
  const embed = async (texts: readonly string[]): Promise<[string, Float32Array][]> => {
    if (texts.length === 0) return [];
    const { vectors } = await embedder.embed(texts, cancel);
    return texts.flatMap((text, i) => pair(text, vectors[i]));
  };
  try {
    return await embed([...lasting, ...others]);
  } catch (error) {
    if (others.length === 0 || !(error instanceof EngineError) || !REFUSALS.includes(error.code)) throw error;
    // What somebody said must not hold up what is remembered of it.
    const none = new Float32Array(embedder.dimensions);
    return [...(await embed(lasting)), ...others.map((text): [string, Float32Array] => [text, none])];
  }
}

const pair = <T>(key: string | undefined, value: T | undefined): [string, T][] =>
  key === undefined || value === undefined ? [] : [[key, value]];
