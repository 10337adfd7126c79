import { bm25, lengthOf } from '@slowwave/engine/storing';
import { countIn, padded, termKey } from './record.ts';
import { byMemory, type Entries, type StoredPoint } from './stored-point.ts';

/** Points that a question sees. */
export type Seen = readonly StoredPoint[];

/** Best first, each with its score. */
export type Ranking = readonly (readonly [point: StoredPoint, score: number])[];

export interface Near {
  readonly vector: Float32Array;
  readonly limit: number;
}

/** The best of what a question sees, by its meaning and by its words. */
export interface Legs {
  nearest(near: Near): Ranking;
  byWords(worded: Worded): Ranking;
}

/** By looking at each of them. */
export const legsOf = (seen: Seen): Legs => ({
  nearest: (near) => vectorLeg(seen, near),
  byWords: (worded) => keywordLeg(seen, worded),
});

/**
 * The nearest vectors, exactly. All are first compared by their numbers, which gives a cosine with the largest possible error of each;
 * only those that may be among the best by that are compared as they were written.
 */
export function vectorLeg(seen: Seen, { vector, limit }: Near): Ranking {
  if (limit < 1) return [];
  const top = topOf(limit, byMemory);
  for (const [point, score] of cosinesOf(mayBeBest(seen, { vector, limit }), vector)) top.offer(point, score);
  return top.list();
}

/** The cosine of each with a question, by vectors as they were written. */
export function cosinesOf(points: Seen, vector: Float32Array): Ranking {
  const asked = lengthOf(vector);
  return points.map((point) => [point, point.cosine(vector, asked)]);
}

/** Rounding of a thousand additions of single precision, in a cosine. */
const ROUNDING = 1e-6;

/** Every point that can reach what the last of the best reaches at least. */
function mayBeBest(seen: Seen, { vector, limit }: Near): Seen {
  if (seen.length <= limit) return seen;
  const question = unitOf(vector);
  const atMost = new Float64Array(seen.length);
  const atLeast = new Float64Array(seen.length);
  for (let i = 0; i < seen.length; i += 1) {
    const point = seen[i] as StoredPoint;
    const cosine = point.roughCosine(question);
    const error = point.missed + ROUNDING;
    atMost[i] = cosine + error;
    atLeast[i] = cosine - error;
  }
  const least = atLeast.sort()[seen.length - limit] as number;
  return seen.filter((_, i) => (atMost[i] as number) >= least);
}

/** Of length one, and zeros up to a multiple of eight, as the numbers of a record have. */
function unitOf(vector: Float32Array): Float64Array {
  const unit = new Float64Array(padded(vector.length));
  const length = lengthOf(vector);
  if (length === 0) return unit;
  for (let i = 0; i < vector.length; i += 1) unit[i] = (vector[i] ?? 0) / length;
  return unit;
}

export interface Worded {
  readonly terms: readonly string[];
  /** Also the words of what the texts came from. */
  readonly wide: boolean;
  readonly limit: number;
  /** Scored as well, if they have a term of the question. */
  readonly also: ReadonlySet<StoredPoint>;
}

/** The best by words, and what else was asked for: BM25 over what the question sees, for which only the postings of its own terms are needed. */
function keywordLeg(seen: Seen, { terms, wide, limit, also }: Worded): Ranking {
  if (limit < 1 || terms.length === 0) return [];
  const wanted = wantedBy(terms);
  for (const [document, point] of seen.entries()) collect(wanted, point.entries(wide), document);
  const lengths = seen.map((point) => point.termCount(wide));
  const postings = new Map(wanted.list.map(({ term, postings }) => [term, postings]));
  const top = topOf(limit, byMemory);
  const others: (readonly [StoredPoint, number])[] = [];
  for (const [document, score] of bm25({ postings, lengths }, terms, () => true)) {
    const point = seen[document];
    if (point === undefined) continue;
    top.offer(point, score);
    if (also.has(point)) others.push([point, score]);
  }
  return [...top.list(), ...others];
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
  /** Nearly all terms of a memory are none of the question's, which one look into this shows. */
  readonly marks: Uint8Array;
}

const MARKS = 2 ** 12;

export function wantedBy(terms: readonly string[]): Wanted {
  const marks = new Uint8Array(MARKS);
  const list = [...new Set(terms)].map((term): WantedTerm => {
    const { low, high } = termKey(term);
    marks[low & (MARKS - 1)] = 1;
    return { term, low, high, postings: [] };
  });
  return { list, marks };
}

/** Notes where a point's entries are among the wanted terms. */
export function collect({ list, marks }: Wanted, { words, first, end, wide }: Entries, document: number): void {
  for (let i = first; i < end; i += 2) {
    const low = words[i] as number;
    if (marks[low & (MARKS - 1)] === 0) continue;
    const second = words[i + 1] as number;
    const found = list.find((one) => one.low === low && one.high === (second & HIGH_BITS));
    if (found === undefined) continue;
    found.postings.push({ document, count: countIn(second, wide) });
  }
}

const HIGH_BITS = ~0xffff;

interface Top<T> {
  offer(one: T, score: number): void;
  /** Less is not among them; as much may be, by its place in the order. */
  least(): number;
  /** Best first. */
  list(): readonly (readonly [one: T, score: number])[];
}

/**
 * The `limit` highest scores; of equal ones those that come first by `order`, which is asked only about such. Keeps only the
 * best while it is offered more, for most of thousands never make it into the list.
 */
export function topOf<T>(limit: number, order: (one: T, other: T) => number): Top<T> {
  const list: (readonly [T, number])[] = [];
  const compare = (a: readonly [T, number], b: readonly [T, number]): number => b[1] - a[1] || order(a[0], b[0]);
  return {
    list: () => list,
    least: () => (list.length < limit ? Number.NEGATIVE_INFINITY : (list.at(-1)?.[1] ?? Number.NEGATIVE_INFINITY)),
    offer: (one, score) => {
      const last = list.at(-1);
      if (list.length >= limit && (last === undefined || score < last[1])) return;
      const offered = [one, score] as const;
      if (list.length >= limit && last !== undefined && compare(offered, last) > 0) return;
      list.splice(
        firstAfter(list, (other) => compare(other, offered) > 0),
        0,
        offered,
      );
      if (list.length > limit) list.pop();
    },
  };
}

/** By halving: the place of the first one of a sorted list that comes after. */
function firstAfter<T>(list: readonly T[], comesAfter: (other: T) => boolean): number {
  let [low, high] = [0, list.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (comesAfter(list[middle] as T)) high = middle;
    else low = middle + 1;
  }
  return low;
}
