/** How fast repeats of a term stop to count, and how much long texts are held back: those of the engine's BM25. */
const K1 = 0.9;
const B = 0.4;
/** Terms of a usual memory: one sentence. A constant, for a weight is stored once and the mean moves with every write. */
const USUAL_TERMS = 10;

/** Terms as the server takes them: numbered dimensions, each once, with a weight. */
export interface SparseVector {
  readonly indices: number[];
  readonly values: number[];
}

/** The part of BM25 that a text brings; the server multiplies with the rarity of each term. null: a text without terms. */
export function documentWeights(terms: readonly string[]): SparseVector | null {
  const held = K1 * (1 - B + (B * terms.length) / USUAL_TERMS);
  return vectorOf(terms, (count) => (count * (K1 + 1)) / (count + held));
}

/** A term of the question counts as often as it is asked. */
export const questionWeights = (terms: readonly string[]): SparseVector | null => vectorOf(terms, (count) => count);

function vectorOf(terms: readonly string[], weight: (count: number) => number): SparseVector | null {
  const counts = new Map<number, number>();
  for (const term of terms) {
    const dimension = dimensionOf(term);
    counts.set(dimension, (counts.get(dimension) ?? 0) + 1);
  }
  if (counts.size === 0) return null;
  return { indices: [...counts.keys()], values: [...counts.values()].map(weight) };
}

const FNV_OFFSET = 0x81_1c_9d_c5;
const FNV_PRIME = 0x01_00_01_93;

/** FNV-1a with 32 bits over the term's characters: of a million terms, one in four thousand shares its dimension. */
export function dimensionOf(term: string): number {
  let hash = FNV_OFFSET;
  for (let i = 0; i < term.length; i += 1) {
    const unit = term.charCodeAt(i);
    hash = Math.imul(hash ^ (unit & 0xff), FNV_PRIME);
    hash = Math.imul(hash ^ (unit >>> 8), FNV_PRIME);
  }
  return hash >>> 0;
}
