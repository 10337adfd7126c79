import type { Filter, IndexQuery } from '@slowwave/engine';
import { type Details, detailsFrom, type Kept, type PlaceOfPoint } from '../../index-point.ts';
import type { ManyFiltered } from './many-filtered.ts';
import { fewIn, keptJson, type ReadParts, textIn } from './packed-shown.ts';
import type { StoredPoint } from './stored-point.ts';

/**
 * What hits show of very many points of one owner, by documents: a hit and a filter ask for it in memory. Documents are added and never
 * changed. What several of them have in common is there once.
 */
export class ManyShown {
  /** null: UTF-8 has no place for it. */
  readonly #texts: (string | null)[] = [];
  readonly #flags: Uint8Array;
  /** By document: the number of its remainder. */
  readonly remainders: Uint32Array;
  readonly #jsons: (string | null)[] = [];
  readonly #numbers = new Map<string | null, number>();
  /** By remainder, once it was asked for. */
  readonly #fews: Partial<Kept>[] = [];
  readonly #details: Details[] = [];
  /** What is near the moments of each, one after the other, and where it ends. */
  #near = Buffer.alloc(NEAR_ROOM);
  readonly #ends: Uint32Array;
  #bytes = 0;

  constructor(capacity: number) {
    this.#flags = new Uint8Array(capacity);
    this.remainders = new Uint32Array(capacity);
    this.#ends = new Uint32Array(capacity + 1);
  }

  /** What comes next. */
  put({ flags, text, remainder, near }: ReadParts): void {
    const document = this.#texts.length;
    const read = text === null || typeof text === 'string' ? text : textIn(text);
    this.#texts.push(read);
    this.#flags[document] = flags;
    this.remainders[document] = this.#numberOf(remainder);
    const begin = this.#ends[document] as number;
    if (begin + near.length > this.#near.length) this.#near = Buffer.concat([this.#near], 2 * (begin + near.length));
    this.#near.set(near, begin);
    this.#ends[document + 1] = begin + near.length;
    this.#bytes += BYTES_OF_STRING + BYTES_OF_DOCUMENT + (read?.length ?? 0) + near.length;
  }

  partsOf(document: number): ReadParts {
    const near = this.#near.subarray(this.#ends[document], this.#ends[document + 1]);
    const remainder = this.#jsons[this.remainders[document] as number] ?? null;
    return { flags: this.#flags[document] as number, text: this.#texts[document] ?? null, remainder, near };
  }
  jsonOf(document: number, { moments }: StoredPoint): string {
    return keptJson(this.partsOf(document), moments);
  }
  textOf(document: number): string {
    return this.#texts[document] ?? (this.fewOf(document).t as string);
  }
  /** What it has that few have. */
  fewOf(document: number): Partial<Kept> {
    return this.#few(this.remainders[document] as number);
  }
  /** What all with this remainder say beside their texts and their moments. */
  detailsOf(number: number, owner: PlaceOfPoint['owner']): Details {
    this.#details[number] ??= detailsFrom(this.#few(number), owner);
    return this.#details[number];
  }

  /** Those of all with this remainder. */
  metadataOf(number: number): Details['metadata'] {
    return this.#few(number).d ?? {};
  }

  /** How many remainders there are. */
  get remainderCount(): number {
    return this.#jsons.length;
  }
  get bytes(): number {
    return this.#bytes + this.#fews.length * BYTES_OF_FEW + this.#details.length * BYTES_OF_DETAILS;
  }

  #few(number: number): Partial<Kept> {
    this.#fews[number] ??= fewIn(this.#jsons[number] ?? null);
    return this.#fews[number];
  }
  #numberOf(remainder: string | null): number {
    const known = this.#numbers.get(remainder);
    if (known !== undefined) return known;
    this.#jsons.push(remainder);
    this.#bytes += BYTES_OF_STRING + (remainder?.length ?? 0);
    this.#numbers.set(remainder, this.#jsons.length - 1);
    return this.#jsons.length - 1;
  }
}

const NEAR_ROOM = 4_096;

/** About. */
const BYTES_OF_STRING = 32;
const BYTES_OF_FEW = 150;
const BYTES_OF_DETAILS = 250;
/** Its flags, the number of its remainder, and where it ends. */
const BYTES_OF_DOCUMENT = 9;

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
