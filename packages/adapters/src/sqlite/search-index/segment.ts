import { WORD } from './record.ts';

/** Records of one owner that were read at once, side by side. */
export interface Segment {
  readonly words: Uint32Array;
  readonly floats: Float64Array;
  readonly numbers: Int8Array;
  readonly bytes: Buffer;
  /** Where the records begin, in bytes. */
  readonly records: readonly number[];
}

/** `live` of a record in memory in whose place there is a newer one, or none any more. */
export const SUPERSEDED = 2;

export function segmentOf(given: Uint8Array): Segment {
  // Numbers of eight bytes are read in place, for which the bytes must begin on a multiple of eight.
  const aligned = given.byteOffset % 8 === 0 ? given : Uint8Array.from(given);
  const { buffer, byteOffset, length } = aligned;
  const words = new Uint32Array(buffer, byteOffset, length / 4);
  const records: number[] = [];
  for (let at = 0; at < length; at += words[at / 4 + WORD.bytes] || length) records.push(at);
  return {
    words,
    records,
    floats: new Float64Array(buffer, byteOffset, length / 8),
    numbers: new Int8Array(buffer, byteOffset, length),
    bytes: Buffer.from(buffer, byteOffset, length),
  };
}

export const wordAt = ({ words }: Segment, record: number, word: number): number => words[record / 4 + word] ?? 0;

export const floatAt = ({ floats }: Segment, record: number, float: number): number => floats[record / 8 + float] ?? 0;

export function supersede({ words }: Segment, record: number): void {
  words[record / 4 + WORD.live] = SUPERSEDED;
}

export function memoryIdAt(segment: Segment, record: number): string {
  const begin = record + (WORD.firstEntry + wordAt(segment, record, WORD.entries) * 2) * 4;
  return segment.bytes.toString('utf8', begin, begin + wordAt(segment, record, WORD.idBytes));
}
