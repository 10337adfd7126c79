import { ByteWriter } from './bytes.ts';
import { ID_LISTS, NUMBERS_AT, scaleOf, WORD } from './record.ts';

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
export function packRecords(records: readonly Uint8Array[]): Buffer {
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
export interface Run {
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
export const IN_TEXT = 0x0100;
export const IN_BOTH = 0x0101;
export const IN_CONTEXT = 0x0001;

/** What is counted of the terms of a run: 0 once in the text, or beside it in the context; 1 once in both; 2 two bytes behind the run. */
export const ONCE = 0;
export const ONCE_IN_BOTH = 1;
const OTHERWISE = 2;

const NO_VECTOR = 0;
export const OWN_VECTOR = 1;
export const VECTOR_BEFORE = 2;
export const VECTOR = 3;
export const ROUNDED = 4;
export const LONG_STEP = 8;
export const OTHER_COUNTS = 16;
export const HAS_IDS = 32;

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
export function countedIn(words: Uint32Array, record: number): { own: number; all: number } {
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
export function listedIn(words: Uint32Array, record: number): number {
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
