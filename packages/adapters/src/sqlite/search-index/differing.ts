/**
 * How many bits a question's code differs in from each of very many others: the one loop that is so short and so hot that it is
 * written in WebAssembly, by hand, as it counts the bits of eight bytes with one instruction. JavaScript takes ten times as long.
 */
export interface Differing {
  /** Of the question, and of each document, one after the other. */
  readonly question: Int32Array;
  readonly codes: Int32Array;
  /** Of the first documents, as of the last `compare`. */
  readonly distances: Uint16Array;
  compare(documents: number): void;
  readonly bytes: number;
}

/** As far as it is used here: the types of Node.js do not have it. */
declare const WebAssembly: {
  readonly Memory: new (of: { readonly initial: number }) => { readonly buffer: ArrayBuffer };
  readonly Module: new (bytes: Uint8Array) => object;
  readonly Instance: new (module: object, imports: object) => { readonly exports: Readonly<Record<string, unknown>> };
};

const PAGE_BYTES = 65_536;

/** Room for so many codes of so many bytes each, a multiple of eight. */
export function differingCodes(capacity: number, codeBytes: number): Differing {
  const codesAt = codeBytes;
  const distancesAt = codesAt + capacity * codeBytes;
  const bytes = Math.ceil((distancesAt + capacity * 2) / PAGE_BYTES) * PAGE_BYTES;
  const memory = new WebAssembly.Memory({ initial: bytes / PAGE_BYTES });
  const { exports } = new WebAssembly.Instance(KERNEL, { m: { m: memory } });
  const kernel = exports.f as (at: number, end: number, question: number, size: number, out: number) => void;
  return {
    question: new Int32Array(memory.buffer, 0, codeBytes / 4),
    codes: new Int32Array(memory.buffer, codesAt, (capacity * codeBytes) / 4),
    distances: new Uint16Array(memory.buffer, distancesAt, capacity),
    compare: (documents) => kernel(codesAt, codesAt + documents * codeBytes, 0, codeBytes, distancesAt),
    bytes,
  };
}

const [I32, I64, NOTHING] = [0x7f, 0x7e, 0x40];
const [AT, END, QUESTION, SIZE, OUT, NEXT, ASKED, SUM] = [0, 1, 2, 3, 4, 5, 6, 7];
const get = (local: number): number[] => [0x20, local];
const set = (local: number): number[] => [0x21, local];
const further = (local: number, by: number): number[] => [...get(local), 0x41, by, 0x6a, ...set(local)];
const eightBytesAt = (local: number): number[] => [...get(local), 0x29, 3, 0];

/** while (at < end) { next = at + size; asked = question; sum = 0; do { … } while (at < next); store sum at out; out += 2 } */
const BODY = [
  ...[0x02, NOTHING, 0x03, NOTHING],
  ...[...get(AT), ...get(END), 0x4f, 0x0d, 1],
  ...[...get(AT), ...get(SIZE), 0x6a, ...set(NEXT)],
  ...[...get(QUESTION), ...set(ASKED), 0x42, 0, ...set(SUM)],
  ...[0x03, NOTHING],
  // sum += the bits that are set in the difference of both
  ...[...get(SUM), ...eightBytesAt(AT), ...eightBytesAt(ASKED), 0x85, 0x7b, 0x7c, ...set(SUM)],
  ...[...further(ASKED, 8), ...further(AT, 8), ...get(AT), ...get(NEXT), 0x49, 0x0d, 0],
  0x0b,
  ...[...get(OUT), ...get(SUM), 0x3d, 1, 0, ...further(OUT, 2), 0x0c, 0],
  ...[0x0b, 0x0b, 0x0b],
];

const section = (id: number, bytes: readonly number[]): number[] => [id, bytes.length, ...bytes];
const name = (text: string): number[] => [text.length, ...Buffer.from(text)];
const func = [2, 2, I32, 1, I64, ...BODY];

const KERNEL = new WebAssembly.Module(
  Uint8Array.from([
    ...[...Buffer.from('\0asm'), 1, 0, 0, 0],
    ...section(1, [1, 0x60, 5, I32, I32, I32, I32, I32, 0]),
    ...section(2, [1, ...name('m'), ...name('m'), 2, 0, 1]),
    ...section(3, [1, 0]),
    ...section(7, [1, ...name('f'), 0, 0]),
    ...section(10, [1, func.length, ...func]),
  ]),
);
