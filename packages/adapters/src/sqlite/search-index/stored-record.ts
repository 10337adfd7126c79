import { ID_ALPHABET } from '@slowwave/engine/storing';
import { FLOAT, FLOATS, ID_LISTS, NUMBERS_AT, padded, WORD } from './record.ts';
import { segmentOf } from './stored-point.ts';

/**
 * A record as it is kept: the same, byte for byte, in as few bytes as it needs. It is made ready once, when it is read from the file.
 * Several follow each other without a gap. Each:
 *
 *   numbers       bytes of the record ÷ 8 · bytes of all that follows · slot · version
 *   one byte      live, form of the id × 2, whether it has a vector × 16
 *   id            of a form below 7: 26 digits after one of PREFIXES, 130 bits in 17 bytes; else its length and its text
 *   numbers       entries with words of the text · other entries · terms of the text · terms with its context · ids in each list
 *   entries       4 bytes and 2 of the hash; the two counts in one byte, or in two behind one of 255
 *   two bytes     the form of each moment: 0 the usual one, 1 a whole number, 2 eight bytes; then those that are not the usual
 *   ids           eight bytes each
 *   vector        one byte: whether its error and its step need eight bytes; the three of them; then the numbers
 *
 * A number is in groups of 7 bits, the lowest first.
 */
export function shrunk(record: Uint8Array): Buffer {
  const { words, floats } = numbersOf(record);
  const out = new Writer(record.length + SPARE);
  const [own, all, lists] = [word(words, WORD.ownEntries), word(words, WORD.entries), listsIn(words)];
  const idBytes = word(words, WORD.idBytes);
  const idAt = (WORD.firstEntry + (all + lists.total) * 2) * 4;
  const id = Buffer.from(record.buffer, record.byteOffset + idAt, idBytes).toString();
  const vectorAt = word(words, WORD.vectorAt);
  const hasVector = (floats[vectorAt / 8 + 2] ?? 0) !== 0;
  out.number(word(words, WORD.slot));
  out.number(word(words, WORD.version));
  const form = formOf(id);
  out.byte(word(words, WORD.live) | (form << 1) | (hasVector ? HAS_VECTOR : 0));
  if (form === LITERAL) out.text(record.subarray(idAt, idAt + idBytes));
  else out.digits(id.slice(id.length - DIGITS));
  for (const count of [own, all - own, word(words, WORD.ownTerms), word(words, WORD.allTerms), ...lists.counts])
    out.number(count);
  let at: number = WORD.firstEntry;
  for (let i = 0; i < all; i += 1, at += 2) out.entry(word(words, at), word(words, at + 1));
  putMoments(out, floats);
  for (let i = 0; i < lists.total * 2; i += 1, at += 1) out.word(word(words, at));
  if (hasVector) putVector(out, floats.subarray(vectorAt / 8), record.subarray(vectorAt + NUMBERS_AT));
  const head = new Writer(SPARE);
  head.number(record.length / 8);
  head.number(out.length);
  return Buffer.concat([head.all, out.all]);
}

/** Records as they were, one after the other. */
export function grown(kept: Uint8Array): Uint8Array {
  const reader = new Reader(kept);
  let bytes = 0;
  while (reader.at < kept.length) {
    bytes += reader.number() * 8;
    const length = reader.number();
    reader.at += length;
  }
  reader.at = 0;
  const buffer = new ArrayBuffer(bytes);
  const run = { words: new Uint32Array(buffer), floats: new Float64Array(buffer), all: Buffer.from(buffer) };
  for (let at = 0; at < bytes; ) at += growOne(reader, run, at);
  return run.all;
}

/** The same bytes as numbers of each kind. Views of single records would cost more than to read them. */
interface Run {
  readonly words: Uint32Array;
  readonly floats: Float64Array;
  readonly all: Buffer;
}

/** The vector of a record that is kept; null: it is of zeros. */
export function keptVector(record: Uint8Array, dimensions: number): Float32Array | null {
  const [point] = segmentOf(grown(record)).points;
  return point?.hasVector === true ? point.vector.subarray(0, dimensions) : null;
}

/** One of several that follow each other. */
interface KeptRecord {
  readonly bytes: Uint8Array;
  readonly slot: number;
}

export function keptRecords(kept: Uint8Array): readonly KeptRecord[] {
  const found: KeptRecord[] = [];
  const reader = new Reader(kept);
  while (reader.at < kept.length) {
    const first = reader.at;
    reader.number();
    const length = reader.number();
    const end = reader.at + length;
    found.push({ bytes: kept.subarray(first, end), slot: reader.number() });
    reader.at = end;
  }
  return found;
}

const DIGITS = 26;
const DIGIT_BITS = 5;
const PREFIXES = ['mem_', 'msg_'] as const;
const DIGITS_ONLY = new RegExp(`^[${ID_ALPHABET}]{${DIGITS}}$`);
const LITERAL = 7;
const HAS_VECTOR = 16;
const HAS_ERROR = 1;
const LONG_STEP = 2;
/** More than a record may grow by where nothing of it is usual. */
const SPARE = 256;

function formOf(id: string): number {
  const form = PREFIXES.findIndex((prefix) => id.startsWith(prefix));
  return form >= 0 && DIGITS_ONLY.test(id.slice(PREFIXES[form]?.length)) ? form : LITERAL;
}

const numbersOf = ({ buffer, byteOffset, length }: Uint8Array) => ({
  words: new Uint32Array(buffer, byteOffset, length / 4),
  floats: new Float64Array(buffer, byteOffset, length / 8),
});

const word = (words: Uint32Array, at: number): number => words[at] ?? 0;

function listsIn(words: Uint32Array) {
  const counts = [...words.subarray(WORD.ids, WORD.ids + ID_LISTS)];
  return { counts, total: counts.reduce((sum, count) => sum + count, 0) };
}

const never = Number.POSITIVE_INFINITY;
/** What each moment is where nobody says otherwise; the third is when it was said. */
const USUAL: readonly number[] = [0, 0, 0, never, never, never, 0, Number.NaN];
const VALID_FROM = FLOAT.validFrom - FLOAT.saidAt;

/** Of the record whose first float this is. */
const usualOf = (place: number, floats: Float64Array, first: number): number =>
  place === VALID_FROM ? (floats[first + FLOAT.saidAt] ?? 0) : (USUAL[place] ?? 0);

function putMoments(out: Writer, floats: Float64Array): void {
  const forms = USUAL.map((_, place) => {
    const value = floats[FLOAT.saidAt + place] ?? 0;
    if (Object.is(value, usualOf(place, floats, 0))) return 0;
    return Number.isSafeInteger(value) && value >= 0 && !Object.is(value, -0) ? 1 : 2;
  });
  const packedForms = forms.reduce<number>((sum, form, place) => sum + form * 4 ** place, 0);
  out.byte(packedForms & 0xff);
  out.byte(packedForms >>> 8);
  for (const [place, form] of forms.entries()) {
    const value = floats[FLOAT.saidAt + place] ?? 0;
    if (form === 1) out.number(value);
    if (form === 2) out.float(value);
  }
}

function putVector(out: Writer, [scale = 0, missed = 0, step = 0]: Float64Array, numbers: Uint8Array): void {
  const isShort = Math.fround(step) === step;
  out.byte((missed === 0 ? 0 : HAS_ERROR) | (isShort ? 0 : LONG_STEP));
  out.float(scale);
  if (missed !== 0) out.float(missed);
  if (isShort) out.shortFloat(step);
  else out.float(step);
  out.bytes(numbers);
}

/** Writes the next record into a run of zeros, from a byte on; says how long it is. */
function growOne(reader: Reader, run: Run, begin: number): number {
  const { words, all } = run;
  const first = begin / 4;
  const bytes = reader.number() * 8;
  reader.number();
  words[first + WORD.bytes] = bytes;
  words[first + WORD.slot] = reader.number();
  words[first + WORD.version] = reader.number();
  const flags = reader.byte();
  words[first + WORD.live] = flags & 1;
  const form = (flags >>> 1) & LITERAL;
  const idBytes = form === LITERAL ? reader.number() : (PREFIXES[form]?.length ?? 0) + DIGITS;
  words[first + WORD.idBytes] = idBytes;
  // The id stands last of its head: it is read again once it is known where that is.
  const idFrom = reader.at;
  reader.at += form === LITERAL ? idBytes : DIGIT_BYTES;
  const own = reader.number();
  const entries = own + reader.number();
  words[first + WORD.ownEntries] = own;
  words[first + WORD.entries] = entries;
  words[first + WORD.ownTerms] = reader.number();
  words[first + WORD.allTerms] = reader.number();
  let listed = 0;
  for (let list = 0; list < ID_LISTS; list += 1) {
    const count = reader.number();
    words[first + WORD.ids + list] = count;
    listed += count;
  }
  let at = first + WORD.firstEntry + entries * 2;
  reader.entries(words, first + WORD.firstEntry, at);
  growMoments(reader, run.floats, begin / 8);
  for (let i = 0; i < listed * 2; i += 1, at += 1) words[at] = reader.word();
  const vectorAt = padded(at * 4 + idBytes);
  words[first + WORD.vectorAt] = vectorAt - begin;
  reader.id(all, at * 4, { form, from: idFrom, bytes: idBytes });
  if ((flags & HAS_VECTOR) !== 0) growVector(reader, run, { from: vectorAt, to: begin + bytes });
  return bytes;
}

function growMoments(reader: Reader, floats: Float64Array, first: number): void {
  const forms = reader.byte() + reader.byte() * 256;
  for (let place = 0; place < FLOATS; place += 1) {
    const form = (forms >>> (place * 2)) & 3;
    const given = form === 1 ? reader.number() : form === 2 ? reader.float() : usualOf(place, floats, first);
    floats[first + FLOAT.saidAt + place] = given;
  }
}

function growVector(reader: Reader, { floats, all }: Run, { from, to }: { from: number; to: number }): void {
  const how = reader.byte();
  floats[from / 8] = reader.float();
  if ((how & HAS_ERROR) !== 0) floats[from / 8 + 1] = reader.float();
  floats[from / 8 + 2] = (how & LONG_STEP) === 0 ? reader.shortFloat() : reader.float();
  reader.copy(all, from + NUMBERS_AT, to);
}

const DIGIT_BYTES = Math.ceil((DIGITS * DIGIT_BITS) / 8);
const VALUE_OF_DIGIT = new Map([...ID_ALPHABET].map((digit, value) => [digit, value]));
const BYTE_OF_VALUE = Uint8Array.from(ID_ALPHABET, (digit) => digit.charCodeAt(0));
const MANY_COUNTED = 0xff;

class Writer {
  readonly #bytes: Buffer;
  length = 0;

  constructor(room: number) {
    this.#bytes = Buffer.allocUnsafe(room);
  }
  get all(): Buffer {
    return this.#bytes.subarray(0, this.length);
  }
  byte(value: number): void {
    this.length = this.#bytes.writeUInt8(value, this.length);
  }
  number(value: number): void {
    let rest = value;
    for (; rest >= 128; rest = Math.floor(rest / 128)) this.byte((rest % 128) + 128);
    this.byte(rest);
  }
  word(value: number): void {
    this.length = this.#bytes.writeUInt32LE(value, this.length);
  }
  float(value: number): void {
    this.length = this.#bytes.writeDoubleLE(value, this.length);
  }
  shortFloat(value: number): void {
    this.length = this.#bytes.writeFloatLE(value, this.length);
  }
  bytes(of: Uint8Array): void {
    this.#bytes.set(of, this.length);
    this.length += of.length;
  }
  text(bytes: Uint8Array): void {
    this.number(bytes.length);
    this.bytes(bytes);
  }
  entry(low: number, high: number): void {
    this.word(low);
    this.length = this.#bytes.writeUInt16LE(high >>> 16, this.length);
    const [own, context] = [(high >>> 8) & 0xff, high & 0xff];
    if (own < 15 && context < 15) this.byte(own * 16 + context);
    else for (const byte of [MANY_COUNTED, own, context]) this.byte(byte);
  }
  digits(digits: string): void {
    let [held, bits] = [0, 0];
    for (const digit of digits) {
      held = (held << DIGIT_BITS) | (VALUE_OF_DIGIT.get(digit) ?? 0);
      bits += DIGIT_BITS;
      if (bits < 8) continue;
      bits -= 8;
      this.byte(held >>> bits);
      held &= (1 << bits) - 1;
    }
    if (bits > 0) this.byte(held << (8 - bits));
  }
}

class Reader {
  readonly #bytes: Buffer;
  readonly #view: DataView;
  at = 0;

  constructor({ buffer, byteOffset, length }: Uint8Array) {
    this.#bytes = Buffer.from(buffer, byteOffset, length);
    this.#view = new DataView(buffer, byteOffset, length);
  }
  byte(): number {
    const value = this.#bytes[this.at] ?? 0;
    this.at += 1;
    return value;
  }
  number(): number {
    let byte = this.byte();
    if (byte < 128) return byte;
    let value = 0;
    for (let factor = 1; ; factor *= 128) {
      value += (byte % 128) * factor;
      if (byte < 128) return value;
      byte = this.byte();
    }
  }
  word(): number {
    const value = this.#view.getUint32(this.at, true);
    this.at += 4;
    return value;
  }
  float(): number {
    const value = this.#view.getFloat64(this.at, true);
    this.at += 8;
    return value;
  }
  shortFloat(): number {
    const value = this.#view.getFloat32(this.at, true);
    this.at += 4;
    return value;
  }
  /** Entries from a word on, up to another one. */
  entries(words: Uint32Array, from: number, to: number): void {
    const bytes = this.#bytes;
    const view = this.#view;
    let at = this.at;
    for (let word = from; word < to; word += 2) {
      words[word] = view.getUint32(at, true);
      const high = view.getUint16(at + 4, true) << 16;
      const counts = bytes[at + 6] as number;
      at += 7;
      if (counts !== MANY_COUNTED) {
        words[word + 1] = high | ((counts & 0xf0) << 4) | (counts & 15);
        continue;
      }
      words[word + 1] = high | ((bytes[at] as number) << 8) | (bytes[at + 1] as number);
      at += 2;
    }
    this.at = at;
  }
  copy(into: Buffer, from: number, to: number): void {
    this.#bytes.copy(into, from, this.at, this.at + to - from);
    this.at += to - from;
  }
  /** An id that was passed, from where it is. */
  id(into: Buffer, to: number, { form, from, bytes }: { form: number; from: number; bytes: number }): void {
    if (form === LITERAL) {
      this.#bytes.copy(into, to, from, from + bytes);
      return;
    }
    const prefix = PREFIXES[form] ?? '';
    for (let i = 0; i < prefix.length; i += 1) into[to + i] = prefix.charCodeAt(i);
    let held = 0;
    let bits = 0;
    let at = from;
    for (let i = 0; i < DIGITS; i += 1) {
      if (bits < DIGIT_BITS) {
        held = (held << 8) | (this.#bytes[at] ?? 0);
        at += 1;
        bits += 8;
      }
      bits -= DIGIT_BITS;
      into[to + prefix.length + i] = BYTE_OF_VALUE[held >>> bits] ?? 0;
      held &= (1 << bits) - 1;
    }
  }
}
