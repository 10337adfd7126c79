import { bm25Weights, termCountsOf } from '@slowwave/engine/storing';
import { collect, type Legs, type Near, type Ranking, topOf, vectorLeg, type Worded, wantedBy } from './legs.ts';
import { type ChangedPoint, writtenIn } from './looking.ts';
import { ManyFiltered } from './many-filtered.ts';
import {
  type Documents,
  kindOf,
  ManyShown,
  type Marked,
  noLiveMarks,
  type Shown,
  type Sight,
  seenBy,
} from './many-shown.ts';
import type { ReadParts } from './packed-shown.ts';
import { CODE_BITS_MIN, type Codes, codesOf, type Postings, postingsOf } from './postings.ts';
import { countIn, termKey } from './record.ts';
import { byMemory, type StoredPoint, segmentOf } from './stored-point.ts';

/** From so many points on, an owner is looked up in; of fewer all are looked at, which is faster. */
export const MANY = 4_096;

/**
 * Very many points of one owner in memory, as documents in the order in which they came: a code for each vector, and lists of
 * documents for each term. Words are scored as exactly as of few; of vectors only the likeliest are compared. What hits show is in
 * memory as well.
 */
export interface ManyPoints {
  /** What a question sees, to be asked before another one looks. */
  seen(sight: Sight): Legs;
  /**
   * The same with these points as they are now. It has the room of this one, which goes on showing what it shows; so only the newest can
   * be written to. null: there is no room for them, or too much would be gone that is still in memory; all has to be made anew.
   */
  with(changed: readonly ChangedPoint[]): ManyPoints | null;
  /** What a hit shows of a point that it sees. */
  shownOf(point: StoredPoint): string;
  /** All that it has, which is copied: nothing of what is gone is in it. */
  copied(): readonly SaidPoint[];
  readonly bytes: number;
}

/** A point, and what hits show of it. */
export interface SaidPoint {
  readonly point: StoredPoint;
  readonly parts: ReadParts;
}

/** Cosines are estimated of so many times as many as are wanted, and of so many at least; points are compared in so many. */
const LIKELY_FACTOR = 20;
const LIKELY_MIN = 1_000;
const COMPARED_FACTOR = 5;
const COMPARED_MIN = 300;

/**
 * How much may be written before the lists are made anew: what is not in them is read through. And how much may have gone: until
 * then it stays in memory, where no question sees it.
 */
const SPARE = 1 / 16;
const SPARE_MIN = 512;

export function manyPoints(said: readonly SaidPoint[], dimensions: number): ManyPoints {
  const points = said.map(({ point }) => point);
  const listed = points.length;
  const capacity = listed + Math.max(SPARE_MIN, Math.ceil(listed * SPARE));
  const vectors = points.map(({ roughVector }) => roughVector);
  const shown = new ManyShown(capacity);
  const room: Room = {
    ...{ points, listed, capacity, shown },
    filtered: new ManyFiltered(points, shown, capacity),
    codes: dimensions < CODE_BITS_MIN ? null : codesOf(vectors, { dimensions, capacity }),
    postings: postingsOf(points),
    kinds: new Uint8Array(capacity),
    goneWith: new Uint32Array(capacity).fill(NEVER),
    lengths: { own: new Uint32Array(capacity), all: new Uint32Array(capacity) },
    newest: [],
    before: new Int32Array(capacity).fill(NONE),
    marks: new Uint8Array(capacity),
    live: noLiveMarks(capacity),
    scores: new Float64Array(capacity),
    scored: new Uint32Array(capacity),
    ...{ recordBytes: 0, writes: 0, gone: 0 },
  };
  for (const [document, one] of said.entries()) place(room, one, document);
  return shownIn(room, { documents: listed, writes: 0 });
}

/** What all share that came from the same points: what is written is added, so that who looks at less sees what it saw. */
interface Room extends Documents {
  readonly points: StoredPoint[];
  readonly shown: ManyShown;
  /** How many of them are in the postings. */
  readonly listed: number;
  readonly capacity: number;
  readonly codes: Codes | null;
  readonly postings: Postings;
  /** By slot: the document that came last. */
  readonly newest: number[];
  /** By document: the one of the same slot that it took the place of. */
  readonly before: Int32Array;
  /** Zero for each document, and so again after a question. */
  readonly scores: Float64Array;
  /** Which documents have a score. */
  readonly scored: Uint32Array;
  recordBytes: number;
  writes: number;
  /** How many documents are gone. */
  gone: number;
}

const NEVER = 2 ** 32 - 1;
const NONE = -1;

function place(room: Room, { point, parts }: SaidPoint, document: number): void {
  room.shown.put(parts);
  room.recordBytes += point.bytes;
  room.kinds[document] = kindOf(point);
  room.lengths.own[document] = point.termCount(false);
  room.lengths.all[document] = point.termCount(true);
  room.before[document] = room.newest[point.slot] ?? NONE;
  room.newest[point.slot] = document;
}

function shownIn(room: Room, shown: Shown): ManyPoints {
  const { points, codes, postings, capacity, goneWith } = room;
  const { documents, writes } = shown;
  const all = { room, shown };
  return {
    get bytes() {
      const looked = room.recordBytes + postings.bytes + (codes?.bytes ?? 0) + capacity * BYTES_OF_DOCUMENT;
      return looked + room.shown.bytes + room.filtered.bytes;
    },
    seen: (sight) => legsOf(all, seenBy(sight, room, shown)),
    shownOf: (point) => room.shown.jsonOf(documentOf(all, point), point),
    copied: () => {
      const there = Array.from({ length: documents }, (_, i) => i).filter((i) => (goneWith[i] as number) > writes);
      const { points: copies } = segmentOf(Buffer.concat(there.map((i) => (points[i] as StoredPoint).record)));
      return copies.map((point, i) => ({ point, parts: room.shown.partsOf(there[i] as number) }));
    },
    with: (changed) => {
      if (writes !== room.writes) throw new Error('only the newest copy of an owner in memory can be written to');
      const there = changed.filter(({ point }) => point !== null);
      const leaving = changed.flatMap(({ slot }) => room.newest[slot] ?? []).filter((i) => goneWith[i] === NEVER);
      if (documents + there.length > capacity || room.gone + leaving.length > capacity - room.listed) return null;
      room.writes += 1;
      room.gone += leaving.length;
      for (const document of leaving) goneWith[document] = room.writes;
      for (const [i, point] of (writtenIn(there)?.points ?? []).entries()) {
        place(room, { point, parts: partsOf(there[i]) }, points.length);
        codes?.put(points.length, point.roughVector);
        points.push(point);
      }
      return shownIn(room, { documents: points.length, writes: room.writes });
    },
  };
}

function partsOf(changed: ChangedPoint | undefined): ReadParts {
  if (changed?.parts == null)
    throw new Error('for an owner with very many points, what hits show has to be read from the file');
  return changed.parts;
}

/** What a document takes beside its record, its code, its terms and what hits show, about. */
const BYTES_OF_DOCUMENT = 85;

/** What is shown of a room. */
interface Among {
  readonly room: Room;
  readonly shown: Shown;
}

const legsOf = (among: Among, seen: Marked): Legs => ({
  nearest: (near) => nearest(among, seen, near),
  byWords: (worded) => byWords(among, seen, worded),
});

function nearest({ room }: Among, { marks, count }: Marked, near: Near): Ranking {
  const { points, codes } = room;
  const byBits = Math.max(LIKELY_MIN, near.limit * LIKELY_FACTOR);
  const byEstimate = Math.max(COMPARED_MIN, near.limit * COMPARED_FACTOR);
  const isFew = codes === null || count <= Math.max(MANY, byBits);
  const likely = isFew
    ? points.filter((_, i) => marks[i] === 1)
    : codes.likely(marks, near.vector, { byBits, byEstimate }).map((i) => points[i] as StoredPoint);
  return vectorLeg(likely, near);
}

/** What `keywordLeg` finds, by the lists of the question's terms. */
function byWords(among: Among, seen: Marked, worded: Worded): Ranking {
  const { terms, limit, also } = worded;
  if (limit < 1 || terms.length === 0) return [];
  const { points, scores } = among.room;
  const found = score(among, seen, worded);
  const scored = (document: number) => [points[document] as StoredPoint, scores[document] as number] as const;
  const top = topOf<StoredPoint>(limit, byMemory);
  let least = Number.MIN_VALUE;
  for (const document of found) {
    if ((scores[document] as number) < least) continue;
    top.offer(...scored(document));
    least = Math.max(least, top.least());
  }
  const others = [...also].map((point) => scored(documentOf(among, point))).filter(([, score]) => score > 0);
  for (const document of found) scores[document] = 0;
  return [...top.list(), ...others];
}

/** Where a point is among what is shown, though a later one may have its slot. */
function documentOf({ room: { newest, before }, shown }: Among, { slot }: StoredPoint): number {
  let document = newest[slot] as number;
  while (document >= shown.documents) document = before[document] as number;
  return document;
}

/**
 * Adds up in the scores what each term of the question is worth for who has it: by its list, and in what is in no list yet. Says which
 * documents have a score.
 */
function score(among: Among, seen: Marked, { terms, wide }: Worded): Uint32Array {
  const { postings, scores, scored } = among.room;
  const lengths = wide ? among.room.lengths.all : among.room.lengths.own;
  const meanLength = seen.termCount(wide) / seen.count;
  const { weight, frequency } = bm25Weights({ documents: seen.count, meanLength });
  let found = 0;
  const late = lateWith(among.room, seen, { terms, wide });
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
      const before = scores[document] as number;
      scores[document] = before + weighs * frequency(count, lengths[document] as number);
      if (before > 0) return;
      scored[found] = document;
      found += 1;
    });
  }
  return scored.subarray(0, found);
}

const NOWHERE = { first: 0, end: 0 };

/** Where the question's terms are in what came after the lists were made. */
function lateWith({ points, listed }: Room, { marks }: Marked, { terms, wide }: Pick<Worded, 'terms' | 'wide'>) {
  const wanted = wantedBy(terms);
  for (let document = listed; document < marks.length; document += 1) {
    if (marks[document] === 1) collect(wanted, (points[document] as StoredPoint).entries(wide), document);
  }
  return new Map(wanted.list.map(({ term, postings }) => [term, postings]));
}
