import { bm25 } from '@slowwave/engine/storing';
import { COUNT_MAX, termKey, WORD } from './record.ts';
import { compareSeen, type Seen } from './seen.ts';
import { type Segment, wordAt } from './segment.ts';
import { type Ranked, topOf } from './top.ts';

interface Asked {
  readonly terms: readonly string[];
  readonly wide: boolean;
  readonly limit: number;
}

/** The best by words: BM25 over what the question sees, of which only the postings of its own terms are needed. */
export function keywordLeg(seen: Seen, { terms, wide, limit }: Asked): readonly Ranked[] {
  if (limit < 1 || terms.length === 0) return [];
  const wanted = wantedBy(terms);
  const lengths = seen.records.map((record, document) => {
    const segment = seen.segments[document];
    if (segment === undefined) return 0;
    collect({ segment, record, document }, wanted, wide);
    return wordAt(segment, record, wide ? WORD.allTerms : WORD.ownTerms);
  });
  const postings = new Map(wanted.list.map(({ term, postings }) => [term, postings]));
  const top = topOf(limit, (one, other) => compareSeen(seen, one, other));
  for (const [document, score] of bm25({ postings, lengths }, terms, () => true)) top.offer(document, score);
  return top.list();
}

/** A term of the question, by its key, and where it was found. */
interface WantedTerm {
  readonly term: string;
  readonly low: number;
  readonly high: number;
  readonly postings: { readonly document: number; readonly count: number }[];
}

interface Wanted {
  readonly list: readonly WantedTerm[];
  /** Nearly all terms of a memory are none of the question's, which one look into this tells. */
  readonly marks: Uint8Array;
}

const MARKS = 2 ** 12;

function wantedBy(terms: readonly string[]): Wanted {
  const marks = new Uint8Array(MARKS);
  const list = [...new Set(terms)].map((term): WantedTerm => {
    const { low, high } = termKey(term);
    marks[low & (MARKS - 1)] = 1;
    return { term, low, high, postings: [] };
  });
  return { list, marks };
}

interface Document {
  readonly segment: Segment;
  readonly record: number;
  readonly document: number;
}

function collect({ segment: { words }, record, document }: Document, { list, marks }: Wanted, wide: boolean): void {
  const at = record / 4;
  const entries = words[at + (wide ? WORD.entries : WORD.ownEntries)] ?? 0;
  const first = at + WORD.firstEntry;
  for (let i = first; i < first + entries * 2; i += 2) {
    const low = words[i] as number;
    if (marks[low & (MARKS - 1)] === 0) continue;
    const second = words[i + 1] as number;
    const found = list.find((one) => one.low === low && one.high === (second & HIGH_BITS));
    if (found === undefined) continue;
    const own = (second >>> 8) & COUNT_MAX;
    found.postings.push({ document, count: wide ? own + (second & COUNT_MAX) : own });
  }
}

const HIGH_BITS = ~0xffff;
