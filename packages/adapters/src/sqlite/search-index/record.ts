import { createHash } from 'node:crypto';
import type { IndexPoint } from '@slowwave/engine';
import { lengthOf } from '@slowwave/engine/storing';

/**
 * One point as a question looks at it, in one run of bytes: whoever has the bytes has it ready, nothing is decoded. It is
 * made of a head and of the vector as 8-bit numbers. In files it is kept in fewer bytes: packed-records.ts.
 *
 *   32-bit words  0 bytes of the record · 1 slot · 2 live · 3 version · 4 bytes of the memory id
 *                 5 entries with words of the text · 6 entries in all · 7 terms of the text · 8 terms with its context
 *                 9 where the vector begins, in bytes
 *   64-bit floats 5 said at · 6 its order · 7 valid from · 8 invalid at · 9 expires at · 10 deleted at · 11 its order
 *                 12 shown from
 *   32-bit words  26–28 how many agents, runs and apps · 29, 30 apps that were told it last, alone or as others · 31 none
 *                 32 … entries, then those agents, runs and apps, two words each; then the memory id
 *   vector        three 64-bit floats: what one step of a number is in parts of the vector's length, how far the
 *                 numbers are from the vector at most in the same parts, and what one step is; then the numbers
 *
 * All of it begins and ends at multiples of eight bytes, little end first, as every machine has it that this runs on.
 */
export const WORD = {
  bytes: 0,
  slot: 1,
  live: 2,
  version: 3,
  idBytes: 4,
  ownEntries: 5,
  entries: 6,
  ownTerms: 7,
  allTerms: 8,
  vectorAt: 9,
  ids: 26,
  firstEntry: 32,
} as const;

export const FLOAT = {
  saidAt: 5,
  saidSeq: 6,
  validFrom: 7,
  invalidAt: 8,
  expiresAt: 9,
  deletedAt: 10,
  deletedSeq: 11,
  shownFrom: 12,
} as const;

/** Moments, one after the other. */
export const FLOATS = 8;

/** Bytes from the beginning of a vector to its numbers. */
export const NUMBERS_AT = 24;

/** A term of a record: 32 bits of its hash; then 16 more of them, and how often text and context have it, 8 bits each. */
export interface TermKey {
  readonly low: number;
  /** In the upper half of the word, where the counts are zero. */
  readonly high: number;
}

/** Counts have eight bits: a term that is there more often has long stopped to count for more. */
const COUNT_MAX = 255;

/** How often a text has a term, by the second word of its entry; `wide` counts what it came from as well. */
export const countIn = (counts: number, wide: boolean): number =>
  ((counts >>> 8) & COUNT_MAX) + (wide ? counts & COUNT_MAX : 0);

/** Multiples of eight, so that every record and every vector begins on one. */
export const padded = (bytes: number): number => (bytes + 7) & ~7;

/** The head of a point's record at a slot of its owner. */
export function headOf(point: IndexPoint, slot: number): Buffer {
  const entries = entriesOf(point);
  const lists = listsOf(point).map((ids) => ids.flatMap(idWords));
  const id = Buffer.from(point.memoryId, 'utf8');
  const idAt = (WORD.firstEntry + entries.words.length + lists.flat().length) * 4;
  const head = new ArrayBuffer(padded(idAt + id.length));
  const words = new Uint32Array(head);
  words[WORD.slot] = slot;
  words[WORD.live] = point.live ? 1 : 0;
  words[WORD.version] = point.version;
  words[WORD.idBytes] = id.length;
  words[WORD.ownEntries] = entries.own;
  words[WORD.entries] = entries.words.length / 2;
  words[WORD.ownTerms] = point.terms.length;
  words[WORD.allTerms] = point.terms.length + point.contextTerms.length;
  words[WORD.vectorAt] = head.byteLength;
  words.set(
    lists.map((list) => list.length / 2),
    WORD.ids,
  );
  words.set(entries.words, WORD.firstEntry);
  words.set(lists.flat(), WORD.firstEntry + entries.words.length);
  new Float64Array(head, FLOAT.saidAt * 8, FLOATS).set(momentsOf(point));
  new Uint8Array(head).set(id, idAt);
  return Buffer.from(head);
}

/** A head and the vector it goes with, as one record. */
export function recordOf(head: Uint8Array, vector: Float32Array): Uint8Array {
  const bytes = new Uint8Array(head.length + padded(NUMBERS_AT + vector.length));
  bytes.set(head);
  new Uint32Array(bytes.buffer)[WORD.bytes] = bytes.length;
  const length = lengthOf(vector);
  if (length === 0) return bytes;
  const step = largest(vector) / NUMBER_MAX;
  const numbers = new Int8Array(bytes.buffer, head.length + NUMBERS_AT, vector.length);
  const missed = round(vector, step, numbers);
  const scale = missed === 0 ? scaleOf(squaresOf(numbers)) : step / length;
  new Float64Array(bytes.buffer, head.length, 3).set([scale, missed / length, step]);
  return bytes;
}

/** What one step is in parts of the length of a vector that is nothing but steps, by the sum of the squares of its numbers. */
export const scaleOf = (squares: number): number => 1 / Math.sqrt(squares);

function squaresOf(numbers: Int8Array): number {
  let squares = 0;
  for (let i = 0; i < numbers.length; i += 1) squares += (numbers[i] as number) ** 2;
  return squares;
}

/** Writes how many steps each number is; says how far that is from the vector. */
function round(vector: Float32Array, step: number, numbers: Int8Array): number {
  let missed = 0;
  for (let i = 0; i < vector.length; i += 1) {
    const value = vector[i] ?? 0;
    const number = Math.round(value / step);
    numbers[i] = number;
    missed += (value - number * step) ** 2;
  }
  return Math.sqrt(missed);
}

/** The same term has the same key, in points and in questions. */
export function termKey(term: string): TermKey {
  let [low, high] = [FNV_OFFSET, FNV_PRIME];
  for (let i = 0; i < term.length; i += 1) {
    const unit = term.charCodeAt(i);
    low = Math.imul(low ^ unit, FNV_PRIME);
    high = Math.imul(high ^ unit, OTHER_PRIME);
    high ^= high >>> 15;
  }
  return { low: low >>> 0, high: (high & 0xffff) << 16 };
}

/** In the order of their words. An id is two of them, which two different ids share in one of 10¹⁹ cases. */
export const ID_PARTS = ['agentId', 'runId', 'appId', 'alone', 'shared'] as const;
export const ID_LISTS = ID_PARTS.length;
export type IdPart = (typeof ID_PARTS)[number];
export type IdWords = [low: number, high: number];

export function idWords(id: string): IdWords {
  const digest = createHash('sha256').update(JSON.stringify(id)).digest();
  return [digest.readUInt32LE(0), digest.readUInt32LE(4)];
}

function listsOf({ ids, toldLast }: IndexPoint): readonly (readonly string[])[] {
  const of = { ...ids, alone: [], shared: [], ...toldLast };
  return ID_PARTS.map((part) => of[part]);
}

const NUMBER_MAX = 127;
const FNV_OFFSET = 0x81_1c_9d_c5;
const FNV_PRIME = 0x01_00_01_93;
const OTHER_PRIME = 0x85_eb_ca_6b;

/** In the order of FLOAT; what never comes is infinitely far away. */
export function momentsOf({ saidAt, validFrom, invalidAt, expiresAt, deletedAt, shownFrom }: IndexPoint): number[] {
  const never = Number.POSITIVE_INFINITY;
  const deleted = deletedAt ?? { at: never, seq: 0 };
  const ends = [invalidAt ?? never, expiresAt ?? never, deleted.at, deleted.seq];
  return [saidAt.at, saidAt.seq, validFrom, ...ends, shownFrom ?? Number.NaN];
}

/** Words of the text first: a narrow question reads no further. */
function entriesOf({ terms, contextTerms }: IndexPoint): { own: number; words: Uint32Array } {
  const counts = new Map<string, number>();
  for (const term of terms) counts.set(term, more(counts.get(term) ?? 0, OWN_SHIFT));
  const own = counts.size;
  for (const term of contextTerms) counts.set(term, more(counts.get(term) ?? 0, 0));
  const words = new Uint32Array(counts.size * 2);
  let at = 0;
  for (const [term, counted] of counts) {
    const { low, high } = termKey(term);
    words[at] = low;
    words[at + 1] = high | counted;
    at += 2;
  }
  return { own, words };
}

const OWN_SHIFT = 8;

/** One more in the eight bits from there on, which never are more than they can be. */
const more = (counted: number, shift: number): number =>
  ((counted >>> shift) & COUNT_MAX) === COUNT_MAX ? counted : counted + (1 << shift);

function largest(vector: Float32Array): number {
  let most = 0;
  for (let i = 0; i < vector.length; i += 1) most = Math.max(most, Math.abs(vector[i] ?? 0));
  return most;
}
