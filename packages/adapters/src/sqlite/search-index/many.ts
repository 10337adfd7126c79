import type { IndexQuery } from '@slowwave/engine';
import { bm25Weights, termCountsOf } from '@slowwave/engine/storing';
import { CODE_BITS_MIN, type Codes, codesOf } from './codes.ts';
import { type ChangedPoint, writtenIn } from './kept-owners.ts';
import {
  collect,
  type Legs,
  type Near,
  type Ranking,
  type ReadVectors,
  topOf,
  vectorLeg,
  type Worded,
  wantedBy,
} from './legs.ts';
import { type Postings, postingsOf } from './postings.ts';
import { countIn, termKey } from './record.ts';
import { byMemory, type Segment, type StoredPoint } from './stored-point.ts';

/** From so many points on, an owner is looked up in; of fewer all are looked at, which is faster. */
export const MANY = 4_096;

/**
 * Very many points of one owner in memory, as documents in the order in which they came: a code for each vector, and lists of
 * documents for each term. Words are scored as exactly as of few; of vectors only the likeliest are compared.
 */
export interface ManyPoints {
  /** What a question sees, to be asked before anything is written. */
  seen(sight: Sight): Legs;
  /** Takes points in as they are now. false: there is no room for them, all has to be made anew. */
  write(changed: readonly ChangedPoint[]): boolean;
  readonly bytes: number;
}

export interface Sight {
  readonly visibility: IndexQuery['visibility'];
  /** It asks for ids or by a filter: being in sight is not enough. */
  readonly narrows: boolean;
  isSeen(point: StoredPoint): boolean;
}

/** How a document is seen: not at all, whenever what holds is, depending on the time, or where what no longer holds is. */
const GONE = 0;
const HOLDS = 1;
const HOLDS_FOR_A_WHILE = 2;
const FORMER = 3;

/** Whether documents of each of these are in sight; null: to be looked at one by one. What is said here of `visible` is its own. */
type ByKind = readonly [gone: false, holds: boolean | null, forAWhile: boolean | null, former: boolean | null];
const LOOKED_AT: ByKind = [false, null, null, null];
const AT_ONCE: Partial<Record<IndexQuery['visibility']['kind'], ByKind>> = {
  live: [false, true, null, false],
  live_or_said_after: [false, true, true, null],
};

/** Points are compared whole in so many times as many as are wanted, and in so many at least. */
const LIKELY_FACTOR = 10;
const LIKELY_MIN = 1_000;

/** How much may be written before the lists are made anew: what is not in them is read through. */
const SPARE = 1 / 16;
const SPARE_MIN = 512;

export function manyPoints(segments: readonly Segment[], dimensions: number): ManyPoints {
  const points: StoredPoint[] = segments.flatMap((segment) => segment.points);
  const listed = points.length;
  const capacity = listed + Math.max(SPARE_MIN, Math.ceil(listed * SPARE));
  const shape = { dimensions, capacity };
  const codes =
    dimensions < CODE_BITS_MIN
      ? null
      : codesOf(
          points.map(({ roughVector }) => roughVector),
          shape,
        );
  const postings = postingsOf(points);
  const kinds = new Uint8Array(capacity);
  const lengths = { own: new Uint32Array(capacity), all: new Uint32Array(capacity) };
  const documentOf: number[] = []; // by slot
  const marks = new Uint8Array(capacity);
  const scores = new Float64Array(capacity);
  let bytes = segments.reduce((sum, one) => sum + one.bytes.length, 0);
  const place = (point: StoredPoint, document: number): void => {
    kinds[document] = kindOf(point);
    lengths.own[document] = point.termCount(false);
    lengths.all[document] = point.termCount(true);
    documentOf[point.slot] = document;
  };
  for (const [document, point] of points.entries()) place(point, document);

  return {
    get bytes() {
      return bytes + postings.bytes + (codes?.bytes ?? 0) + capacity * BYTES_OF_DOCUMENT;
    },
    write: (changed) => {
      const written = writtenIn(changed);
      if (points.length + (written?.points.length ?? 0) > capacity) return false;
      for (const { slot } of changed) {
        const before = documentOf[slot];
        if (before !== undefined) kinds[before] = GONE;
      }
      for (const point of written?.points ?? []) {
        place(point, points.length);
        codes?.put(points.length, point.roughVector);
        points.push(point);
      }
      bytes += written?.bytes.length ?? 0;
      return true;
    },
    seen: (sight) => {
      const among: Among = { points, listed, codes, postings, documentOf, scores };
      return legsOf(among, marked(sight, { points, kinds, marks: marks.subarray(0, points.length) }), lengths);
    },
  };
}

/** What a document takes beside its record, its code and its terms, about. */
const BYTES_OF_DOCUMENT = 80;

function kindOf(point: StoredPoint): number {
  if (!point.live) return FORMER;
  const always = point.shownFrom === undefined && point.invalidAt === null && point.expiresAt === null;
  return always ? HOLDS : HOLDS_FOR_A_WHILE;
}

interface Marked {
  /** 1 for each document that is seen. */
  readonly marks: Uint8Array;
  readonly count: number;
}

interface Marking {
  readonly points: readonly StoredPoint[];
  readonly kinds: Uint8Array;
  readonly marks: Uint8Array;
}

function marked({ visibility, narrows, isSeen }: Sight, { points, kinds, marks }: Marking): Marked {
  const byKind = narrows ? LOOKED_AT : (AT_ONCE[visibility.kind] ?? LOOKED_AT);
  let count = 0;
  for (let document = 0; document < marks.length; document += 1) {
    const seen = byKind[kinds[document] as number] ?? isSeen(points[document] as StoredPoint);
    marks[document] = seen ? 1 : 0;
    if (seen) count += 1;
  }
  return { marks, count };
}

interface Among {
  readonly points: readonly StoredPoint[];
  /** How many of them are in the postings. */
  readonly listed: number;
  readonly codes: Codes | null;
  readonly postings: Postings;
  readonly documentOf: readonly number[];
  /** Zero for each document, and so again after a question. */
  readonly scores: Float64Array;
}

interface Lengths {
  readonly own: Uint32Array;
  readonly all: Uint32Array;
}

const legsOf = (among: Among, seen: Marked, lengths: Lengths): Legs => ({
  nearest: (near, readVectors) => nearest(among, seen, { near, readVectors }),
  byWords: (worded) => byWords(among, seen, { worded, lengths: worded.wide ? lengths.all : lengths.own }),
});

interface Nearing {
  readonly near: Near;
  readonly readVectors: ReadVectors;
}

function nearest({ points, codes }: Among, { marks, count }: Marked, { near, readVectors }: Nearing): Ranking {
  const least = Math.max(LIKELY_MIN, near.limit * LIKELY_FACTOR);
  const isFew = codes === null || count <= Math.max(MANY, least);
  const likely = isFew
    ? points.filter((_, i) => marks[i] === 1)
    : codes.likely(marks, near.vector, least).map((i) => points[i] as StoredPoint);
  return vectorLeg(likely, near, readVectors);
}

interface Wording {
  readonly worded: Worded;
  readonly lengths: Uint32Array;
}

/** What `keywordLeg` finds, by the lists of the question's terms. */
function byWords(among: Among, seen: Marked, { worded, lengths }: Wording): Ranking {
  const { terms, limit, also } = worded;
  if (limit < 1 || terms.length === 0) return [];
  const { points, documentOf, scores } = among;
  score(among, seen, { worded, lengths });
  const scored = (document: number) => [points[document] as StoredPoint, scores[document] as number] as const;
  const top = topOf<StoredPoint>(limit, byMemory);
  let least = Number.MIN_VALUE;
  for (let document = 0; document < points.length; document += 1) {
    if ((scores[document] as number) < least) continue;
    top.offer(...scored(document));
    least = Math.max(least, top.least());
  }
  const others = [...also].map(({ slot }) => scored(documentOf[slot] as number)).filter(([, score]) => score > 0);
  scores.fill(0, 0, points.length);
  return [...top.list(), ...others];
}

/** Adds up in the scores what each term of the question is worth for who has it: by its list, and in what is in no list yet. */
function score(among: Among, seen: Marked, { worded: { terms, wide }, lengths }: Wording): void {
  const { postings, scores } = among;
  const { weight, frequency } = bm25Weights({ documents: seen.count, meanLength: meanOf(lengths, seen) });
  const late = lateWith(among, seen, { terms, wide });
  const eachWith = (term: string, found: (document: number, count: number) => void): void => {
    const { first, end } = postings.placeOf(termKey(term)) ?? NOWHERE;
    for (let place = first; place < end; place += 1) {
      const document = postings.documents[place] as number;
      const count = countIn(postings.counts[place] as number, wide);
      if (seen.marks[document] === 1 && count > 0) found(document, count);
    }
    for (const { document, count } of late.get(term) ?? []) found(document, count);
  };
  for (const [term, asked] of termCountsOf(terms)) {
    // Twice: how much a term is worth depends on how many of those that are seen have it.
    let having = 0;
    eachWith(term, () => {
      having += 1;
    });
    const weighs = weight(asked, having);
    eachWith(term, (document, count) => {
      scores[document] = (scores[document] as number) + weighs * frequency(count, lengths[document] as number);
    });
  }
}

const NOWHERE = { first: 0, end: 0 };

/** Where the question's terms are in what came after the lists were made. */
function lateWith({ points, listed }: Among, { marks }: Marked, { terms, wide }: Pick<Worded, 'terms' | 'wide'>) {
  const wanted = wantedBy(terms);
  for (let document = listed; document < marks.length; document += 1) {
    if (marks[document] === 1) collect(wanted, (points[document] as StoredPoint).entries(wide), document);
  }
  return new Map(wanted.list.map(({ term, postings }) => [term, postings]));
}

function meanOf(lengths: Uint32Array, { marks, count }: Marked): number {
  let total = 0;
  for (let document = 0; document < marks.length; document += 1) {
    if (marks[document] === 1) total += lengths[document] as number;
  }
  return total / count;
}
