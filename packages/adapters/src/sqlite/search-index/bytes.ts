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
