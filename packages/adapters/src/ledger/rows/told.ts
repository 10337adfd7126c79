import type { Told } from '@slowwave/engine';
import { ID_ALPHABET } from '@slowwave/engine/storing';

/**
 * What an answer told, in as few bytes as ids need. Each entry:
 *   a number in groups of 7 bits, the lowest first: version × 4 + form
 *   form 0, 1   the 26 digits of a memory's id, of a message's: 130 bits in 17 bytes
 *   form 2, 3   an id of any other shape, of a memory, of a message: its length in the same way, and its text
 */
export function packedTold(told: readonly Told[]): Uint8Array {
  return Buffer.concat(told.flatMap(packedOne));
}

/** The bytes that an id has among those of what was told. */
export const packedId = (id: string): Uint8Array => {
  const digits = DIGITS_OF_ID.exec(id)?.[1];
  return digits === undefined ? Buffer.from(id) : packedDigits(digits);
};

/** What was told, one by one. */
export function unpackedTold(bytes: Uint8Array): Told[] {
  return [...entriesOf(bytes)].map(({ form, version, id }) => {
    const isMemory = form % 2 === 0;
    const text = form < LITERAL ? `${isMemory ? 'mem' : 'msg'}_${unpackedDigits(id)}` : Buffer.from(id).toString();
    return isMemory ? { kind: 'memory', id: text, version } : { kind: 'message', id: text };
  });
}

/** Versions of memories that were told, by keys that are quick to make: see `keyOf`. */
export function* toldVersions(bytes: Uint8Array): Generator<{ readonly key: string; readonly version: number }> {
  for (const { form, version, id } of entriesOf(bytes)) if (form % 2 === 0) yield { key: latin(id), version };
}

/** A key of a memory's id that `toldVersions` has, too. */
export const keyOf = (memoryId: string): string => latin(packedId(memoryId));

const latin = (bytes: Uint8Array): string => Buffer.from(bytes).toString('latin1');

const DIGITS = 26;
const PACKED_BYTES = 17;
const BASE = 32n;
const DIGITS_OF_ID = new RegExp(`^(?:mem|msg)_([${ID_ALPHABET}]{${DIGITS}})$`);

/** The first form of ids that are no digits. */
const LITERAL = 2;
const FORMS = 4;

function packedOne(told: Told): Uint8Array[] {
  const isMemory = told.kind === 'memory';
  const id = packedId(told.id);
  const isDigits = DIGITS_OF_ID.test(told.id);
  const form = (isDigits ? 0 : LITERAL) + (isMemory ? 0 : 1);
  const head = packedNumber((isMemory ? told.version : 0) * FORMS + form);
  return isDigits ? [head, id] : [head, packedNumber(id.length), id];
}

interface Entry {
  readonly form: number;
  readonly version: number;
  readonly id: Uint8Array;
}

function* entriesOf(bytes: Uint8Array): Generator<Entry> {
  for (let at = 0; at < bytes.length; ) {
    const head = numberAt(bytes, at);
    const form = head.value % FORMS;
    const length = form < LITERAL ? { value: PACKED_BYTES, next: head.next } : numberAt(bytes, head.next);
    at = length.next + length.value;
    yield { form, version: Math.floor(head.value / FORMS), id: bytes.subarray(length.next, at) };
  }
}

const GROUP = 128;

function packedNumber(value: number): Uint8Array {
  const bytes: number[] = [];
  for (let rest = value; ; rest = Math.floor(rest / GROUP)) {
    if (rest < GROUP) return Buffer.from([...bytes, rest]);
    bytes.push((rest % GROUP) + GROUP);
  }
}

function numberAt(bytes: Uint8Array, from: number): { readonly value: number; readonly next: number } {
  let value = 0;
  for (let at = from, factor = 1; ; at += 1, factor *= GROUP) {
    const byte = bytes[at] ?? 0;
    value += (byte % GROUP) * factor;
    if (byte < GROUP) return { value, next: at + 1 };
  }
}

function packedDigits(digits: string): Uint8Array {
  const number = [...digits].reduce((sum, digit) => sum * BASE + BigInt(ID_ALPHABET.indexOf(digit)), 0n);
  return Buffer.from(number.toString(16).padStart(PACKED_BYTES * 2, '0'), 'hex');
}

function unpackedDigits(bytes: Uint8Array): string {
  let digits = '';
  for (let rest = BigInt(`0x${Buffer.from(bytes).toString('hex')}`), i = 0; i < DIGITS; i += 1, rest /= BASE) {
    digits = (ID_ALPHABET[Number(rest % BASE)] ?? '') + digits;
  }
  return digits;
}
