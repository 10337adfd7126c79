import type { Filter, IndexQuery } from '@slowwave/engine';
import type { ManyFiltered } from './many-filtered.ts';
import type { StoredPoint } from './stored-point.ts';

export interface Sight {
  readonly visibility: IndexQuery['visibility'];
  /** It asks for ids: being in sight is not enough. */
  readonly narrows: boolean;
  readonly owner: IndexQuery['owner'];
  readonly where: Filter | null;
  isSeen(point: StoredPoint): boolean;
}

/** Documents of one owner, as far as it depends on them who sees them. */
export interface Documents {
  readonly points: readonly StoredPoint[];
  readonly filtered: ManyFiltered;
  readonly kinds: Uint8Array;
  /** With which write a document went. */
  readonly goneWith: Uint32Array;
  readonly lengths: Lengths;
  /** Of the last question that did not see what nearly every one sees. */
  readonly marks: Uint8Array;
  readonly live: LiveMarks;
}

/** How many terms each has: its text alone, or with what it came from. */
interface Lengths {
  readonly own: Uint32Array;
  readonly all: Uint32Array;
}

/** How much is shown of documents that others add to. */
export interface Shown {
  readonly documents: number;
  readonly writes: number;
}

export interface Marked {
  /** 1 for each document that is seen. */
  readonly marks: Uint8Array;
  readonly count: number;
  /** How many terms they have, in texts alone or with what these came from. */
  termCount(wide: boolean): number;
}

/** What a question sees of what is shown, until another one looks. */
export const seenBy = (sight: Sight, documents: Documents, shown: Shown): Marked =>
  isLive(sight) ? markedLive(sight, documents, shown) : marked(sight, documents, shown);

/** How a document is seen: whenever what holds is, depending on the time, or where what no longer holds is. */
const HOLDS = 0;
const HOLDS_FOR_A_WHILE = 1;
const FORMER = 2;

/** Whether documents of each of these are in sight; null: to be looked at one by one. What is said here of `visible` is its own. */
type ByKind = readonly [holds: boolean | null, forAWhile: boolean | null, former: boolean | null];
const LOOKED_AT: ByKind = [null, null, null];
const AT_ONCE: Partial<Record<IndexQuery['visibility']['kind'], ByKind>> = {
  live: [true, null, false],
  live_or_said_after: [true, true, null],
};

export function kindOf(point: StoredPoint): number {
  if (!point.live) return FORMER;
  const always = point.shownFrom === undefined && point.invalidAt === null && point.expiresAt === null;
  return always ? HOLDS : HOLDS_FOR_A_WHILE;
}

function marked({ visibility, narrows, where, owner, isSeen }: Sight, documents: Documents, shown: Shown): Marked {
  const { points, kinds, goneWith, lengths, filtered } = documents;
  const marks = documents.marks.subarray(0, shown.documents);
  const left = where === null ? null : filtered.leftBy(where, owner, marks.length);
  const byKind = narrows ? LOOKED_AT : (AT_ONCE[visibility.kind] ?? LOOKED_AT);
  let count = 0;
  for (let document = 0; document < marks.length; document += 1) {
    const isThere = (goneWith[document] as number) > shown.writes;
    const fits = isThere && (left === null || left[document] === 1);
    const seen = fits && (byKind[kinds[document] as number] ?? isSeen(points[document] as StoredPoint));
    marks[document] = seen ? 1 : 0;
    if (seen) count += 1;
  }
  return { marks, count, termCount: (wide) => sumOf(wide ? lengths.all : lengths.own, marks) };
}

function sumOf(lengths: Uint32Array, marks: Uint8Array): number {
  let total = 0;
  for (let document = 0; document < marks.length; document += 1) {
    if (marks[document] === 1) total += lengths[document] as number;
  }
  return total;
}

/** What nearly every question sees, from one to the next: only what depends on the time is looked at each time. */
interface LiveMarks {
  readonly marks: Uint8Array;
  /** What they are of; null: of nothing yet. */
  of: Shown | null;
  forAWhile: number[];
  count: number;
  own: number;
  all: number;
}

export const noLiveMarks = (capacity: number): LiveMarks => ({
  ...{ marks: new Uint8Array(capacity), of: null, forAWhile: [], count: 0, own: 0, all: 0 },
});

const isLive = ({ visibility, narrows, where }: Sight): boolean =>
  visibility.kind === 'live' && !narrows && where === null;

function markedLive({ isSeen }: Sight, documents: Documents, shown: Shown): Marked {
  const { live, points } = documents;
  if (live.of?.documents !== shown.documents || live.of.writes !== shown.writes) markAnew(documents, shown);
  for (const document of live.forAWhile) {
    const seen = isSeen(points[document] as StoredPoint) ? 1 : 0;
    if (live.marks[document] !== seen) markLive(documents, document, seen);
  }
  const { count, own, all } = live;
  return { marks: live.marks.subarray(0, shown.documents), count, termCount: (wide) => (wide ? all : own) };
}

function markAnew(documents: Documents, shown: Shown): void {
  const { live, kinds, goneWith } = documents;
  Object.assign(live, { of: shown, forAWhile: [], count: 0, own: 0, all: 0 });
  live.marks.fill(0);
  for (let document = 0; document < shown.documents; document += 1) {
    if ((goneWith[document] as number) <= shown.writes) continue;
    if (kinds[document] === HOLDS) markLive(documents, document, 1);
    else if (kinds[document] === HOLDS_FOR_A_WHILE) live.forAWhile.push(document);
  }
}

function markLive({ live, lengths }: Documents, document: number, seen: 0 | 1): void {
  const more = seen === 1 ? 1 : -1;
  live.marks[document] = seen;
  live.count += more;
  live.own += more * (lengths.own[document] as number);
  live.all += more * (lengths.all[document] as number);
}
