import { ByteReader, ByteWriter } from './bytes.ts';
import { type Head, HeadReader, headsIn, packHeads, WITHDRAWN } from './heads.ts';
import type { ChangedPoint } from './looking.ts';
import { packShown, type ShownParts, ShownRow } from './packed-shown.ts';
import { FLOAT, FLOATS, ID_LISTS, NUMBERS_AT, padded, scaleOf, WORD } from './record.ts';
import { segmentOf } from './stored-point.ts';

/** Points of one owner that are kept together: as many as a block has, or one that is loose. */
export interface PackedRow {
  /** The last change of any of them. */
  readonly change: number;
  /** See heads.ts. */
  readonly heads: Uint8Array;
  /** See packed-shown.ts. */
  readonly shown: Uint8Array;
  /** See packRecords. */
  readonly records: Uint8Array;
}

/** All that is kept of a point. */
export interface KeptPoint {
  readonly head: Head;
  /** null: it is withdrawn. */
  readonly said: { readonly record: Uint8Array; readonly parts: ShownParts } | null;
}

/** Points as a row has them. */
export const inOrder = (points: ReadonlyMap<number, KeptPoint>): KeptPoint[] =>
  [...points.values()].sort((one, other) => one.head.slot - other.head.slot);

/** Points in the order of their slots, from a first one on. */
export function packRow(points: readonly KeptPoint[], first: number): PackedRow {
  const change = points.reduce((last, { head }) => Math.max(last, head.change), 0);
  const said = points.flatMap(({ head, said }) => (said === null ? [] : [{ ...said, ...head }]));
  return {
    change,
    heads: packHeads(
      points.map(({ head }) => head),
      { first, change },
    ),
    shown: packShown(said, first),
    records: packRecords(said.map(({ record }) => record)),
  };
}

/**
 * Records as they are kept, without what their heads say (heads.ts): the same when they are read, byte for byte, in as few bytes as they
 * need. What several have in common is there once: words, ids, and vectors, since people say the same again.
 *
 *   numbers       bytes of all records ÷ 8 · bytes of each vector ÷ 8 · how many terms and how many ids any of them has
 *   terms         4 bytes and 2 of the hash
 *   ids           eight bytes
 *   then each     one byte: VECTOR, and what is not as usual
 *                 numbers: entries with words of the text · other entries; then both in runs of terms that follow each other, each the
 *                 place of its first term × 8 + what is counted × 2 + whether there are more, and how many
 *                 numbers, where they are not sums of what is counted: terms of the text · terms with its context
 *                 numbers, where there are ids: how many in each list · the place of each
 *                 vector: its step, its squares' sum or else its scale and error, its numbers; or the place of the record that has it
 */
function packRecords(records: readonly Uint8Array[]): Buffer {
  const shared: Shared = { terms: new Listed(), ids: new Listed(), vectors: new Map() };
  const body = new ByteWriter();
  for (const [place, record] of records.entries()) putRecord(body, numbersOf(record), { place, shared });
  const out = new ByteWriter();
  const first = records[0];
  out.number(records.reduce((sum, { length }) => sum + length, 0) / 8);
  out.number(first === undefined ? 0 : (first.length - word(numbersOf(first).words, WORD.vectorAt)) / 8);
  out.number(shared.terms.words.length / 2);
  out.number(shared.ids.words.length / 2);
  for (let i = 0; i < shared.terms.words.length; i += 2) {
    out.word(shared.terms.words[i] as number);
    out.half((shared.terms.words[i + 1] as number) >>> 16);
  }
  for (const half of shared.ids.words) out.word(half);
  return Buffer.concat([out.all, body.all]);
}

/** The same bytes as numbers of each kind. Views of single records would cost more than to read them. */
interface Run {
  readonly words: Uint32Array;
  readonly floats: Float64Array;
  readonly all: Buffer;
}

const numbersOf = (bytes: Uint8Array): Run => {
  const { buffer, byteOffset, length } = bytes.byteOffset % 8 === 0 ? bytes : Uint8Array.from(bytes);
  return {
    words: new Uint32Array(buffer, byteOffset, length / 4),
    floats: new Float64Array(buffer, byteOffset, length / 8),
    all: Buffer.from(buffer, byteOffset, length),
  };
};

const word = (words: Uint32Array, at: number): number => words[at] as number;

/** What is there once for all records of a row. */
interface Shared {
  readonly terms: Listed;
  readonly ids: Listed;
  /** By their step and length, and the place of the record that has one. */
  readonly vectors: Map<number, { readonly numbers: Buffer; readonly place: number }>;
}

/** Pairs of words, each once, in the order in which they came. */
class Listed {
  readonly words: number[] = [];
  /** Places in it from 1 on, by the lower bits of the first word; 0: free. */
  #places = new Uint32Array(1_024);

  placeOf(low: number, high: number): number {
    const { words } = this;
    const mask = this.#places.length - 1;
    let at = low & mask;
    for (; this.#places[at] !== 0; at = (at + 1) & mask) {
      const known = (this.#places[at] as number) - 1;
      if (words[known * 2] === low && words[known * 2 + 1] === high) return known;
    }
    words.push(low, high);
    const count = words.length / 2;
    this.#places[at] = count;
    if (count * 2 > mask) this.#grow();
    return count - 1;
  }

  #grow(): void {
    const larger = new Uint32Array(this.#places.length * 4);
    const mask = larger.length - 1;
    for (let place = 0; place < this.words.length / 2; place += 1) {
      let at = (this.words[place * 2] as number) & mask;
      while (larger[at] !== 0) at = (at + 1) & mask;
      larger[at] = place + 1;
    }
    this.#places = larger;
  }
}

/** How often text and context have a term, in the second word of its entry. */
const COUNTS = 0xffff;
const IN_TEXT = 0x0100;
const IN_BOTH = 0x0101;
const IN_CONTEXT = 0x0001;

/** What is counted of the terms of a run: 0 once in the text, or beside it in the context; 1 once in both; 2 two bytes behind the run. */
const ONCE = 0;
const ONCE_IN_BOTH = 1;
const OTHERWISE = 2;

const NO_VECTOR = 0;
const OWN_VECTOR = 1;
const VECTOR_BEFORE = 2;
const VECTOR = 3;
const ROUNDED = 4;
const LONG_STEP = 8;
const OTHER_COUNTS = 16;
const HAS_IDS = 32;

interface Putting {
  readonly place: number;
  readonly shared: Shared;
}

function putRecord(out: ByteWriter, record: Run, { place, shared }: Putting): void {
  const { words, all } = record;
  const [own, entries] = [word(words, WORD.ownEntries), word(words, WORD.entries)];
  const vector = vectorOf(record);
  const before = vector === null ? null : placeOfSame(shared.vectors, vector, { all, place });
  const counted = countedIn(words, 0);
  const isOther = word(words, WORD.ownTerms) !== counted.own || word(words, WORD.allTerms) !== counted.all;
  const ids = listedIn(words, 0);
  out.byte(formOfVector(vector, before) | (isOther ? OTHER_COUNTS : 0) | (ids === 0 ? 0 : HAS_IDS));
  for (const number of [own, entries - own]) out.number(number);
  putRuns(out, words, { terms: shared.terms, own, entries });
  if (isOther) for (const count of [WORD.ownTerms, WORD.allTerms]) out.number(word(words, count));
  if (ids > 0) putIds(out, words, { ids: shared.ids, first: WORD.firstEntry + entries * 2, count: ids });
  if (before !== null) out.number(before);
  else if (vector !== null) putVector(out, vector, all);
}

/** How many terms the entries of a record count, which begins at a word. */
function countedIn(words: Uint32Array, record: number): { own: number; all: number } {
  const first = record + WORD.firstEntry + 1;
  const ofText = first + word(words, record + WORD.ownEntries) * 2;
  const end = first + word(words, record + WORD.entries) * 2;
  const counted = { own: 0, all: 0 };
  for (let at = first; at < end; at += 2) {
    const counts = word(words, at) & COUNTS;
    if (at < ofText) counted.own += counts >>> 8;
    counted.all += (counts >>> 8) + (counts & 0xff);
  }
  return counted;
}

/** How many ids are in the lists of a record, which begins at a word. */
function listedIn(words: Uint32Array, record: number): number {
  let listed = 0;
  for (let list = 0; list < ID_LISTS; list += 1) listed += word(words, record + WORD.ids + list);
  return listed;
}

interface Runs {
  readonly terms: Listed;
  readonly own: number;
  readonly entries: number;
}

function putRuns(out: ByteWriter, words: Uint32Array, { terms, own, entries }: Runs): void {
  for (let i = 0; i < entries; ) {
    const at = WORD.firstEntry + i * 2;
    const counts = word(words, at + 1) & COUNTS;
    const first = placeAt(terms, words, at);
    const end = WORD.firstEntry + (i < own ? own : entries) * 2;
    const isNext = (next: number): boolean =>
      (word(words, next + 1) & COUNTS) === counts && placeAt(terms, words, next) === first + (next - at) / 2;
    let next = at + 2;
    while (next < end && isNext(next)) next += 2;
    const length = (next - at) / 2;
    const how = howCounted(counts, i < own ? IN_TEXT : IN_CONTEXT);
    out.number(first * 8 + how * 2 + (length > 1 ? 1 : 0));
    if (length > 1) out.number(length);
    if (how === OTHERWISE) out.half(counts);
    i += length;
  }
}

const placeAt = (terms: Listed, words: Uint32Array, at: number): number =>
  terms.placeOf(word(words, at), (word(words, at + 1) & ~COUNTS) >>> 0);

function howCounted(counts: number, once: number): number {
  if (counts === once) return ONCE;
  return counts === IN_BOTH ? ONCE_IN_BOTH : OTHERWISE;
}

interface Ids {
  readonly ids: Listed;
  readonly first: number;
  readonly count: number;
}

function putIds(out: ByteWriter, words: Uint32Array, { ids, first, count }: Ids): void {
  for (let list = 0; list < ID_LISTS; list += 1) out.number(word(words, WORD.ids + list));
  for (let at = first; at < first + count * 2; at += 2) out.number(ids.placeOf(word(words, at), word(words, at + 1)));
}

interface Vector {
  readonly how: number;
  readonly begin: number;
  readonly scale: number;
  readonly missed: number;
  readonly step: number;
  readonly squares: number;
}

/** null: it is of zeros. */
function vectorOf({ words, floats }: Run): Vector | null {
  const begin = word(words, WORD.vectorAt);
  const first = begin / 8;
  const [scale, missed, step] = [floats[first] as number, floats[first + 1] as number, floats[first + 2] as number];
  if (step === 0) return null;
  const squares = Math.round(1 / scale ** 2);
  const isOfSteps = missed === 0 && scaleOf(squares) === scale;
  const how = (isOfSteps ? 0 : ROUNDED) | (Math.fround(step) === step ? 0 : LONG_STEP);
  return { how, begin, scale, missed, step, squares };
}

/** The place of an earlier record with the same vector, of those that have the same step and length; null: this is the first of them. */
function placeOfSame(
  vectors: Shared['vectors'],
  { begin, scale, step }: Vector,
  { all, place }: { all: Buffer; place: number },
) {
  const numbers = all.subarray(begin);
  const name = scale * step;
  const before = vectors.get(name);
  if (before?.numbers.equals(numbers) === true) return before.place;
  vectors.set(name, { numbers, place });
  return null;
}

function formOfVector(vector: Vector | null, before: number | null): number {
  if (vector === null) return NO_VECTOR;
  return before === null ? OWN_VECTOR | vector.how : VECTOR_BEFORE;
}

function putVector(out: ByteWriter, { how, begin, scale, missed, step, squares }: Vector, all: Buffer): void {
  if ((how & LONG_STEP) === 0) out.shortFloat(step);
  else out.float(step);
  if ((how & ROUNDED) === 0) out.number(squares);
  else for (const float of [scale, missed]) out.float(float);
  out.bytes(all.subarray(begin + NUMBERS_AT));
}

export function pointsIn(row: PackedRow, first: number): KeptPoint[] {
  const records = segmentOf(grownRecords(row, first)).points;
  const shown = new ShownRow(row.shown, first);
  let place = 0;
  return headsIn(row.heads, { first, change: row.change }).map((head) => {
    const record = head.live === WITHDRAWN ? undefined : records[place]?.record;
    if (record === undefined) return { head, said: null };
    place += 1;
    return { head, said: { record, parts: shown.partsAt(place - 1) } };
  });
}

/** Records as they were, one after the other, by the heads and the records of a row. */
export function grownRecords({ heads: packed, records, change }: Packed, first: number): Uint8Array {
  const heads = new HeadReader(packed, { first, change });
  const reader = new ByteReader(records);
  const buffer = new ArrayBuffer(reader.number() * 8);
  const vectorBytes = reader.number() * 8;
  const terms = new Uint32Array(reader.number() * 2);
  const ids = new Uint32Array(reader.number() * 2);
  for (let i = 0; i < terms.length; i += 2) {
    terms[i] = reader.word();
    terms[i + 1] = reader.half() << 16;
  }
  for (let i = 0; i < ids.length; i += 1) ids[i] = reader.word();
  const run: Run = { words: new Uint32Array(buffer), floats: new Float64Array(buffer), all: Buffer.from(buffer) };
  const places: Places = { terms, ids, vectorBytes, vectors: [] };
  for (let begin = 0; begin < buffer.byteLength; ) {
    heads.next();
    if (heads.live !== WITHDRAWN) begin += growOne(reader, heads, { run, begin, places });
  }
  return run.all;
}

/** Points of a row as far as questions look into them; with what hits show, if that was read as well. */
export function changedIn(row: Packed, first: number): (ChangedPoint & { readonly change: number })[] {
  const { points } = segmentOf(grownRecords(row, first));
  const shown = row.shown == null ? null : new ShownRow(row.shown, first);
  const heads = new HeadReader(row.heads, { first, change: row.change });
  const found: (ChangedPoint & { readonly change: number })[] = [];
  for (let place = 0; heads.next(); ) {
    const { slot, change, live } = heads;
    const point = live === WITHDRAWN ? null : (points[place] ?? null);
    found.push({ slot, change, point, parts: point === null || shown === null ? null : shown.partsAt(place) });
    if (live !== WITHDRAWN) place += 1;
  }
  return found;
}

type Packed = Omit<PackedRow, 'shown'> & { readonly shown?: PackedRow['shown'] | null };

interface Places {
  readonly terms: Uint32Array;
  readonly ids: Uint32Array;
  /** With what is before its numbers. */
  readonly vectorBytes: number;
  /** Where those of the records are that were read. */
  readonly vectors: number[];
}

interface Growing {
  readonly run: Run;
  readonly begin: number;
  readonly places: Places;
}

/** Writes the next record into a run of zeros, from a byte on; says how long it is. */
function growOne(reader: ByteReader, head: HeadReader, { run, begin, places }: Growing): number {
  const { words, floats, all } = run;
  const first = begin / 4;
  const flags = reader.byte();
  const own = reader.number();
  const entries = own + reader.number();
  words[first + WORD.slot] = head.slot;
  words[first + WORD.live] = head.live;
  words[first + WORD.version] = head.version;
  words[first + WORD.idBytes] = head.id.length;
  words[first + WORD.ownEntries] = own;
  words[first + WORD.entries] = entries;
  // Copied one by one: to make a view of so few takes longer.
  for (let i = 0; i < FLOATS; i += 1) floats[begin / 8 + FLOAT.saidAt + i] = head.moments[i] as number;
  growRuns(reader, words, { at: first + WORD.firstEntry, own, entries, terms: places.terms });
  if ((flags & OTHER_COUNTS) !== 0) {
    words[first + WORD.ownTerms] = reader.number();
    words[first + WORD.allTerms] = reader.number();
  } else {
    const counted = countedIn(words, first);
    words[first + WORD.ownTerms] = counted.own;
    words[first + WORD.allTerms] = counted.all;
  }
  let at = first + WORD.firstEntry + entries * 2;
  if ((flags & HAS_IDS) !== 0) at = growIds(reader, words, { first, at, ids: places.ids });
  for (let i = 0; i < head.id.length; i += 1) all[at * 4 + i] = head.id.bytes[i] as number;
  const vectorAt = padded(at * 4 + head.id.length);
  const end = vectorAt + places.vectorBytes;
  words[first + WORD.vectorAt] = vectorAt - begin;
  words[first + WORD.bytes] = end - begin;
  places.vectors.push(vectorAt);
  growVector(reader, flags, { run, vectorAt, end, places });
  return end - begin;
}

interface GrowingRuns {
  at: number;
  readonly own: number;
  readonly entries: number;
  readonly terms: Uint32Array;
}

function growRuns(reader: ByteReader, words: Uint32Array, { at, own, entries, terms }: GrowingRuns): void {
  let into = at;
  for (let i = 0; i < entries; ) {
    const run = reader.number();
    const length = (run & 1) === 0 ? 1 : reader.number();
    const how = (run >>> 1) & 3;
    const usual = i < own ? IN_TEXT : IN_CONTEXT;
    const counts = how === ONCE ? usual : how === ONCE_IN_BOTH ? IN_BOTH : reader.half();
    let from = (run >>> 3) * 2;
    for (let left = length; left > 0; left -= 1, from += 2, into += 2) {
      words[into] = terms[from] as number;
      words[into + 1] = (terms[from + 1] as number) | counts;
    }
    i += length;
  }
}

interface GrowingIds {
  readonly first: number;
  readonly at: number;
  readonly ids: Uint32Array;
}

/** Says at which word they end. */
function growIds(reader: ByteReader, words: Uint32Array, { first, at, ids }: GrowingIds): number {
  for (let list = 0; list < ID_LISTS; list += 1) words[first + WORD.ids + list] = reader.number();
  const listed = listedIn(words, first);
  for (let i = 0; i < listed; i += 1) {
    const place = reader.number();
    words[at + i * 2] = ids[place * 2] as number;
    words[at + i * 2 + 1] = ids[place * 2 + 1] as number;
  }
  return at + listed * 2;
}

interface GrowingVector {
  readonly run: Run;
  readonly vectorAt: number;
  readonly end: number;
  readonly places: Places;
}

function growVector(reader: ByteReader, flags: number, { run, vectorAt, end, places }: GrowingVector): void {
  const { floats, all } = run;
  const kind = flags & VECTOR;
  if (kind === VECTOR_BEFORE) {
    const from = places.vectors[reader.number()] as number;
    all.copyWithin(vectorAt, from, from + end - vectorAt);
  }
  if (kind !== OWN_VECTOR) return;
  floats[vectorAt / 8 + 2] = (flags & LONG_STEP) === 0 ? reader.shortFloat() : reader.float();
  if ((flags & ROUNDED) === 0) {
    floats[vectorAt / 8] = scaleOf(reader.number());
  } else {
    floats[vectorAt / 8] = reader.float();
    floats[vectorAt / 8 + 1] = reader.float();
  }
  reader.copy(all, vectorAt + NUMBERS_AT, end);
}
