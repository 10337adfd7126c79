/** How fast repeats of a term stop to count, and how much long documents are held back: good for short memories. */
const K1 = 0.9;
const B = 0.4;

/** The documents of one owner, prepared for keyword questions. Documents are known by their position. */
export interface KeywordTable {
  readonly postings: ReadonlyMap<string, readonly Posting[]>;
  /** Number of terms of each document. */
  readonly lengths: readonly number[];
}

interface Posting {
  readonly document: number;
  readonly count: number;
}

/** Which documents a question sees, and how many terms they have: the base of its statistics. */
interface Seen {
  readonly sees: (document: number) => boolean;
  readonly documents: number;
  readonly meanLength: number;
}

export function keywordTable(documents: readonly (readonly string[])[]): KeywordTable {
  const postings = new Map<string, Posting[]>();
  for (const [document, terms] of documents.entries()) {
    for (const [term, count] of countsOf(terms)) {
      const list = postings.get(term);
      if (list === undefined) postings.set(term, [{ document, count }]);
      else list.push({ document, count });
    }
  }
  return { postings, lengths: documents.map((terms) => terms.length) };
}

/**
 * BM25 of every seen document that has a term of the question. Rarity and mean length are those of the seen documents
 * alone, so that neither other owners nor former versions move a score.
 */
export function bm25(
  table: KeywordTable,
  question: readonly string[],
  sees: (document: number) => boolean,
): Map<number, number> {
  const seen = seenOf(table, sees);
  const scores = new Map<number, number>();
  for (const [term, asked] of countsOf(question)) {
    const postings = (table.postings.get(term) ?? []).filter(({ document }) => sees(document));
    const weight = asked * rarity(postings.length, seen.documents);
    for (const { document, count } of postings) {
      const relativeLength = (table.lengths[document] ?? 0) / seen.meanLength;
      const frequency = (count * (K1 + 1)) / (count + K1 * (1 - B + B * relativeLength));
      scores.set(document, (scores.get(document) ?? 0) + weight * frequency);
    }
  }
  return scores;
}

/** Never negative, also for a term that every document has. */
function rarity(withTerm: number, documents: number): number {
  return Math.log(1 + (documents - withTerm + 0.5) / (withTerm + 0.5));
}

function seenOf(table: KeywordTable, sees: (document: number) => boolean): Seen {
  const lengths = table.lengths.filter((_, document) => sees(document));
  const total = lengths.reduce((sum, length) => sum + length, 0);
  return { sees, documents: lengths.length, meanLength: total / lengths.length };
}

function countsOf(terms: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const term of terms) counts.set(term, (counts.get(term) ?? 0) + 1);
  return counts;
}

/** Cosine of two vectors of equal length, −1…1; 0 where one of them is all zeros. */
export function cosine(a: Float32Array, b: Float32Array): number {
  return cosineOf(dot(a, b), lengthOf(a) * lengthOf(b));
}

/** The cosine behind a dot product, given the product of the lengths; rounding never takes it out of −1…1. */
export function cosineOf(product: number, lengths: number): number {
  return lengths === 0 ? 0 : Math.max(-1, Math.min(1, product / lengths));
}

export const lengthOf = (vector: Float32Array): number => Math.sqrt(dot(vector, vector));

/** Sum of the products of `b` with the part of `a` that begins at `offset`. */
export function dot(a: Float32Array, b: Float32Array, offset = 0): number {
  let sum = 0;
  for (let i = 0; i < b.length; i += 1) sum += (a[offset + i] ?? 0) * (b[i] ?? 0);
  return sum;
}

/** The position of a document in its owner's list, and its score. */
export type Scored = readonly [document: number, score: number];

/**
 * The `limit` highest scores, best first; of equal ones those of lower position. Keeps only the best while it reads, for
 * most of thousands of scores never make it into the list.
 */
export function best(scores: Iterable<Scored>, limit: number): Scored[] {
  const list: Scored[] = [];
  for (const scored of scores) {
    const last = list.at(-1);
    if (list.length >= limit && (last === undefined || compare(scored, last) > 0)) continue;
    list.splice(placeOf(scored, list), 0, scored);
    if (list.length > limit) list.pop();
  }
  return list;
}

const compare = (a: Scored, b: Scored): number => b[1] - a[1] || a[0] - b[0];

/** By halving. */
function placeOf(scored: Scored, list: readonly Scored[]): number {
  let [low, high] = [0, list.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    const other = list[middle];
    if (other !== undefined && compare(other, scored) <= 0) low = middle + 1;
    else high = middle;
  }
  return low;
}
