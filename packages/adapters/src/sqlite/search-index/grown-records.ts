import { ByteReader } from './bytes.ts';
import { HeadReader, WITHDRAWN } from './heads.ts';
import type { ChangedPoint } from './kept-owners.ts';
import {
  countedIn,
  HAS_IDS,
  IN_BOTH,
  IN_CONTEXT,
  IN_TEXT,
  LONG_STEP,
  listedIn,
  ONCE,
  ONCE_IN_BOTH,
  OTHER_COUNTS,
  OWN_VECTOR,
  ROUNDED,
  type Run,
  VECTOR,
  VECTOR_BEFORE,
} from './packed-records.ts';
import type { PackedRow } from './packed-row.ts';
import { FLOAT, FLOATS, ID_LISTS, NUMBERS_AT, padded, scaleOf, WORD } from './record.ts';
import { ShownRow } from './shown-row.ts';
import { segmentOf } from './stored-point.ts';

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
