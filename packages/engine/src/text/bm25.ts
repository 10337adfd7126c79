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
