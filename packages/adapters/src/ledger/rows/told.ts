import type { Told } from '@slowwave/engine';
import { ID_ALPHABET } from '@slowwave/engine/storing';

/**
 * What an answer told, in as few bytes as ids need, in one piece or several. Each entry:
 *   a number in groups of 7 bits, the lowest first: version × 4 + form
 *   form 0, 1   the 26 digits of a memory's id, of another one's: 130 bits in 17 bytes
 *   form 2, 3   an id of any other shape, of a memory, of something else: its length in the same way, and its text
 * What is no memory has no version, and its kind in place of it: 0 a message, 1 a relation.
 */
export function packedTold(told: readonly Told[], room: Room): Uint8Array[] {
  const pieces: Uint8Array[][] = [[]];
  let left = room.first;
  for (const entry of told.map((one) => Buffer.concat(packedOne(one)))) {
    const piece = pieces.at(-1) ?? [];
    if (entry.length <= left || piece.length === 0) piece.push(entry);
    else pieces.push([entry]);
    left = (piece === pieces.at(-1) ? left : room.next) - entry.length;
  }
  return pieces.map((piece) => Buffer.concat(piece));
}

/** So many bytes may each piece have, and one entry anyway: the row of the first has more besides. */
interface Room {
  readonly first: number;
  readonly next: number;
}

/** What an id is among the bytes of what was told, in hex. */
export const packedId = (id: string): string => idBytes(id).toString('hex');

/** What was told, one by one. */
export function unpackedTold(bytes: Uint8Array): Told[] {
  const all = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const told: Told[] = [];
  for (let at = 0; at < all.length; ) {
    const head = numberAt(all, at);
    const form = head.value % FORMS;
    const length = form < LITERAL ? { value: PACKED_BYTES, next: head.next } : numberAt(all, head.next);
    at = length.next + length.value;
    const id = idFrom(all.subarray(length.next, at), head.value);
    const number = Math.floor(head.value / FORMS);
    told.push(isMemory(form) ? { kind: 'memory', id, version: number } : { kind: OTHERS[number] ?? 'message', id });
  }
  return told;
}

const DIGITS = 26;
const PACKED_BYTES = 17;
const BASE = 32n;
const DIGITS_OF_ID = new RegExp(`^(?:mem|msg|sta)_([${ID_ALPHABET}]{${DIGITS}})$`);

/** The first form of ids that are no digits. */
const LITERAL = 2;
const FORMS = 4;

const isMemory = (form: number): boolean => form % 2 === 0;

/** Kinds without versions, by their number, and how their ids begin. */
const OTHERS = ['message', 'relation'] as const;
const PREFIXES = ['msg', 'sta'] as const;

function packedOne(told: Told): Uint8Array[] {
  const id = idBytes(told.id);
  const isDigits = DIGITS_OF_ID.test(told.id);
  const form = (isDigits ? 0 : LITERAL) + (told.kind === 'memory' ? 0 : 1);
  const head = packedNumber((told.kind === 'memory' ? told.version : OTHERS.indexOf(told.kind)) * FORMS + form);
  return isDigits ? [head, id] : [head, packedNumber(id.length), id];
}

function idBytes(id: string): Buffer {
  const digits = DIGITS_OF_ID.exec(id)?.[1];
  return digits === undefined ? Buffer.from(id) : packedDigits(digits);
}

function idFrom(bytes: Buffer, head: number): string {
  const form = head % FORMS;
  if (form >= LITERAL) return bytes.toString();
  const prefix = isMemory(form) ? 'mem' : (PREFIXES[Math.floor(head / FORMS)] ?? 'msg');
  return `${prefix}_${unpackedDigits(bytes)}`;
}

/** Numbers in groups of 7 bits, the lowest first. */
const GROUP = 128;

export function packedNumber(value: number): Uint8Array {
  const bytes: number[] = [];
  for (let rest = value; ; rest = Math.floor(rest / GROUP)) {
    if (rest < GROUP) return Buffer.from([...bytes, rest]);
    bytes.push((rest % GROUP) + GROUP);
  }
}

export function numberAt(bytes: Uint8Array, from: number): { readonly value: number; readonly next: number } {
  let value = 0;
  for (let at = from, factor = 1; ; at += 1, factor *= GROUP) {
    const byte = bytes[at] ?? 0;
    value += (byte % GROUP) * factor;
    if (byte < GROUP) return { value, next: at + 1 };
  }
}

function packedDigits(digits: string): Buffer {
  const number = [...digits].reduce((sum, digit) => sum * BASE + BigInt(ID_ALPHABET.indexOf(digit)), 0n);
  return Buffer.from(number.toString(16).padStart(PACKED_BYTES * 2, '0'), 'hex');
}

function unpackedDigits(bytes: Buffer): string {
  let digits = '';
  for (let rest = BigInt(`0x${bytes.toString('hex')}`), i = 0; i < DIGITS; i += 1, rest /= BASE) {
    digits = (ID_ALPHABET[Number(rest % BASE)] ?? '') + digits;
  }
  return digits;
}
