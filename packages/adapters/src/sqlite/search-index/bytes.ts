import { ID_ALPHABET } from '@slowwave/engine/storing';

/** Bytes one after the other, of numbers and texts of any length. A number is in groups of 7 bits, the lowest first. */
export class ByteWriter {
  #bytes = Buffer.allocUnsafe(ROOM);
  length = 0;

  get all(): Buffer {
    return this.#bytes.subarray(0, this.length);
  }
  byte(value: number): void {
    this.#reserve(1);
    this.#bytes[this.length] = value;
    this.length += 1;
  }
  number(value: number): void {
    this.#reserve(NUMBER_BYTES);
    let rest = value;
    for (; rest >= 128; rest = Math.floor(rest / 128)) {
      this.#bytes[this.length] = (rest % 128) + 128;
      this.length += 1;
    }
    this.#bytes[this.length] = rest;
    this.length += 1;
  }
  /** Of either sign, for which `isSmall` is true. */
  signed(value: number): void {
    this.number(value < 0 ? -2 * value - 1 : 2 * value);
  }
  word(value: number): void {
    this.#reserve(4);
    this.length = this.#bytes.writeUInt32LE(value, this.length);
  }
  half(value: number): void {
    this.#reserve(2);
    this.length = this.#bytes.writeUInt16LE(value, this.length);
  }
  /** 40 bits, as two times 20. */
  bits40(upper: number, lower: number): void {
    this.word((lower + ((upper & 0xfff) << 20)) >>> 0);
    this.byte(upper >>> 12);
  }
  float(value: number): void {
    this.#reserve(8);
    this.length = this.#bytes.writeDoubleLE(value, this.length);
  }
  shortFloat(value: number): void {
    this.#reserve(4);
    this.length = this.#bytes.writeFloatLE(value, this.length);
  }
  bytes(of: Uint8Array): void {
    this.#reserve(of.length);
    this.#bytes.set(of, this.length);
    this.length += of.length;
  }
  /** Its length, and then what it is. */
  text(bytes: Uint8Array): void {
    this.number(bytes.length);
    this.bytes(bytes);
  }

  #reserve(more: number): void {
    if (this.length + more <= this.#bytes.length) return;
    const larger = Buffer.allocUnsafe(2 * (this.length + more));
    larger.set(this.all);
    this.#bytes = larger;
  }
}

const ROOM = 1_024;
const NUMBER_BYTES = 8;

/** What a signed number may be: twice as much is still exact. */
const SMALL = 2 ** 51;
export const isSmall = (value: number): boolean =>
  Number.isInteger(value) && Math.abs(value) < SMALL && !Object.is(value, -0);

export class ByteReader {
  readonly all: Buffer;
  at = 0;

  constructor(bytes: Uint8Array) {
    this.all = bytes instanceof Buffer ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  }
  get isAtEnd(): boolean {
    return this.at >= this.all.length;
  }
  byte(): number {
    const value = this.all[this.at] ?? 0;
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
  signed(): number {
    const value = this.number();
    return value % 2 === 0 ? value / 2 : -(value + 1) / 2;
  }
  word(): number {
    const lower = this.half();
    return lower + this.half() * 2 ** 16;
  }
  half(): number {
    const lower = this.byte();
    return lower + this.byte() * 2 ** 8;
  }
  float(): number {
    const value = this.all.readDoubleLE(this.at);
    this.at += 8;
    return value;
  }
  shortFloat(): number {
    const value = this.all.readFloatLE(this.at);
    this.at += 4;
    return value;
  }
  /** So many bytes from here on, not copied. */
  bytes(length: number): Buffer {
    const found = this.all.subarray(this.at, this.at + length);
    this.at += length;
    return found;
  }
  copy(into: Buffer, from: number, to: number): void {
    this.all.copy(into, from, this.at, this.at + to - from);
    this.at += to - from;
  }
  text(): Buffer {
    return this.bytes(this.number());
  }
}

/**
 * An id in as few bytes as it needs. The usual ones have 26 digits after their prefix: a time, a count, the bits of their owner and
 * random ones. Of the time it is said how much it is from one that is known, and the owner's bits are left out where they are known.
 *
 *   form      which of PREFIXES, or LITERAL: then its length and its text
 *   signed    the time's difference
 *   2 bytes   the owner's bits, if they are others
 *   8 bytes   the count, and what is random
 */
interface Beside {
  /** A time that the id's is near. */
  readonly time: number;
  /** Bits of an owner. */
  readonly owner: number;
}

/** The form of an id, with OTHER_OWNER where it has other bits than those that are known: less than 16. */
export function formOf(id: string, { owner }: Pick<Beside, 'owner'>): number {
  const form = PREFIXES.findIndex((prefix) => id.startsWith(prefix));
  if (form < 0 || id.length !== PREFIX_CHARS + DIGITS || !areDigits(id)) return LITERAL;
  return ownerIn(id) === owner ? form : form | OTHER_OWNER;
}

/** The bits of the owner in an id of a usual form; of others any. */
export const ownerIn = (id: string): number => group(id, OWNER_AT) >>> RANDOM_BITS;

/** The time of an id, in milliseconds, of a usual form; of others any. */
export const timeIn = (id: string): number =>
  (digitOf(id, 0) * 32 + digitOf(id, 1)) * 2 ** 40 + group(id, 2) * 2 ** 20 + group(id, 6);

export function putId(out: ByteWriter, id: string, { form, time }: { form: number; time: number }): void {
  if (form === LITERAL) {
    out.text(Buffer.from(id));
    return;
  }
  out.signed(timeIn(id) - time);
  const owner = group(id, OWNER_AT);
  if (form >= OTHER_OWNER) out.half(owner >>> RANDOM_BITS);
  const mixed = (group(id, COUNT_AT) << RANDOM_BITS) | (owner & RANDOM);
  out.half(mixed & 0xffff);
  out.byte(mixed >>> 16);
  out.bits40(group(id, 18), group(id, 22));
}

/** A prefix and 26 digits. */
const USUAL_ID_BYTES = 30;

/** Reads one id after the other into the same few bytes: most are copied from there, and few are needed as texts. */
export class IdReader implements Beside {
  /** The id that was read last, and how long it is. */
  bytes = Buffer.alloc(USUAL_ID_BYTES);
  length = 0;
  time = 0;
  owner = 0;
  #isUsual = false;

  /** As it differs from the one before. */
  read(reader: ByteReader, form: number): void {
    this.#isUsual = form !== LITERAL;
    if (form === LITERAL) {
      const text = reader.text();
      this.length = text.length;
      if (this.bytes.length < this.length) this.bytes = Buffer.alloc(this.length);
      this.bytes.set(text);
      return;
    }
    this.length = USUAL_ID_BYTES;
    this.time += reader.signed();
    if (form >= OTHER_OWNER) this.owner = reader.half();
    const mixed = reader.half() | (reader.byte() << 16);
    const low = reader.word();
    const high = (reader.byte() << 12) | (low >>> 20);
    const prefix = PREFIX_BYTES[form & ~OTHER_OWNER] ?? PREFIX_BYTES[0];
    for (let i = 0; i < PREFIX_CHARS; i += 1) this.bytes[i] = prefix?.[i] ?? 0;
    const upper = Math.floor(this.time / 2 ** 40);
    this.bytes[PREFIX_CHARS] = BYTE_OF_VALUE[upper >>> 5] as number;
    this.bytes[PREFIX_CHARS + 1] = BYTE_OF_VALUE[upper & 31] as number;
    this.#put(2, Math.floor(this.time / 2 ** 20) % 2 ** 20);
    this.#put(6, this.time % 2 ** 20);
    this.#put(COUNT_AT, mixed >>> RANDOM_BITS);
    this.#put(OWNER_AT, (this.owner << RANDOM_BITS) | (mixed & RANDOM));
    this.#put(18, high);
    this.#put(22, low & 0xfffff);
  }

  get text(): string {
    return this.#isUsual
      ? this.bytes.toString('latin1', 0, USUAL_ID_BYTES)
      : this.bytes.toString('utf8', 0, this.length);
  }

  /** Four digits. */
  #put(digit: number, value: number): void {
    const at = PREFIX_CHARS + digit;
    this.bytes[at] = BYTE_OF_VALUE[value >>> 15] as number;
    this.bytes[at + 1] = BYTE_OF_VALUE[(value >>> 10) & 31] as number;
    this.bytes[at + 2] = BYTE_OF_VALUE[(value >>> 5) & 31] as number;
    this.bytes[at + 3] = BYTE_OF_VALUE[value & 31] as number;
  }
}

export const LITERAL = 7;
const OTHER_OWNER = 8;
const PREFIXES = ['mem_', 'msg_', 'ent_', 'rel_'] as const;
const PREFIX_BYTES = PREFIXES.map((prefix) => Buffer.from(prefix));
const PREFIX_CHARS = 4;
const DIGITS = 26;
const COUNT_AT = 10;
const OWNER_AT = 14;
/** Beside the owner's bits, in the last of their digits. */
const RANDOM_BITS = 4;
const RANDOM = 15;
const NO_DIGIT = 255;

const VALUES = new Uint8Array(128).fill(NO_DIGIT);
for (const [value, digit] of [...ID_ALPHABET].entries()) VALUES[digit.charCodeAt(0)] = value;
const BYTE_OF_VALUE = Uint8Array.from(ID_ALPHABET, (digit) => digit.charCodeAt(0));

function areDigits(id: string): boolean {
  for (let i = PREFIX_CHARS; i < id.length; i += 1) {
    const unit = id.charCodeAt(i);
    if (unit > 127 || VALUES[unit] === NO_DIGIT) return false;
  }
  return true;
}

const digitOf = (id: string, digit: number): number => VALUES[id.charCodeAt(PREFIX_CHARS + digit)] ?? 0;

/** Four digits as a number of 20 bits. */
const group = (id: string, digit: number): number =>
  (digitOf(id, digit) << 15) | (digitOf(id, digit + 1) << 10) | (digitOf(id, digit + 2) << 5) | digitOf(id, digit + 3);
