import { bm25, cosineOf, dot, lengthOf } from '@slowwave/engine/storing';
import { countIn, padded, termKey } from './record.ts';
import { byMemory, type Entries, type RoughVector, type StoredPoint } from './stored-point.ts';

/** Points that a question sees. */
export type Seen = readonly StoredPoint[];

/** Best first, each with its score. */
export type Ranking = readonly (readonly [point: StoredPoint, score: number])[];

/** Reads whole vectors from the file. */
export type ReadVectors = (points: Seen) => ReadonlyMap<StoredPoint, Float32Array>;

export interface Near {
  readonly vector: Float32Array;
  readonly limit: number;
}

/** The best of what a question sees, by its meaning and by its words. */
export interface Legs {
  nearest(near: Near, readVectors: ReadVectors): Ranking;
  byWords(worded: Worded): Ranking;
}

/** By looking at each of them. */
export const legsOf = (seen: Seen): Legs => ({
  nearest: (near, readVectors) => vectorLeg(seen, near, readVectors),
  byWords: (worded) => keywordLeg(seen, worded),
});

/**
 * The nearest vectors, exactly. All are first compared in their 8-bit form, which gives a cosine to within a hundredth and
 * the largest possible error of each; only those that may be among the best by that are compared whole.
 */
export function vectorLeg(seen: Seen, { vector, limit }: Near, readVectors: ReadVectors): Ranking {
  if (limit < 1) return [];
  const top = topOf(limit, byMemory);
  for (const [point, score] of cosinesOf(mayBeBest(seen, { vector, limit }), vector, readVectors))
    top.offer(point, score);
  return top.list();
}

/** The cosine of each with a question, by their whole vectors. */
export function cosinesOf(points: Seen, vector: Float32Array, readVectors: ReadVectors): Ranking {
  const asked = lengthOf(vector);
  // That of a vector that is all zeros, as of what only words find, is known without reading it.
  const hasDirection = (point: StoredPoint): boolean => asked > 0 && point.roughVector.step > 0;
  const vectors = readVectors(points.filter(hasDirection));
  return points.flatMap((point) => {
    if (!hasDirection(point)) return [[point, 0] as const];
    const stored = vectors.get(point);
    return stored === undefined ? [] : [[point, cosineOf(dot(stored, vector), lengthOf(stored) * asked)] as const];
  });
}

/** Rounding of a thousand additions of single precision, in a cosine. */
const ROUNDING = 1e-6;

/** Every point that can reach what the last of the best reaches at least. */
function mayBeBest(seen: Seen, { vector, limit }: Near): Seen {
  if (seen.length <= limit) return seen;
  const question = unitOf(vector);
  const atMost = new Float64Array(seen.length);
  const surely = topOf<number>(limit, () => 0);
  for (const [i, point] of seen.entries()) {
    const rough = point.roughVector;
    const cosine = roughCosine(rough, question);
    const error = rough.missed + ROUNDING;
    atMost[i] = cosine + error;
    surely.offer(i, cosine - error);
  }
  const least = surely.list().at(-1)?.[1] ?? 0;
  return seen.filter((_, i) => (atMost[i] ?? 0) >= least);
}

/** Of length one, and zeros up to a multiple of eight, as the numbers of a record have. */
function unitOf(vector: Float32Array): Float64Array {
  const unit = new Float64Array(padded(vector.length));
  const length = lengthOf(vector);
  if (length === 0) return unit;
  for (let i = 0; i < vector.length; i += 1) unit[i] = (vector[i] ?? 0) / length;
  return unit;
}

/** Four sums side by side: each addition would otherwise wait for the one before. */
function roughCosine({ numbers, first, step }: RoughVector, question: Float64Array): number {
  let a = 0;
  let b = 0;
  let c = 0;
  let d = 0;
  for (let i = 0; i < question.length; i += 4) {
    const at = first + i;
    a += (numbers[at] as number) * (question[i] as number);
    b += (numbers[at + 1] as number) * (question[i + 1] as number);
    c += (numbers[at + 2] as number) * (question[i + 2] as number);
    d += (numbers[at + 3] as number) * (question[i + 3] as number);
  }
  return (a + b + c + d) * step;
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
