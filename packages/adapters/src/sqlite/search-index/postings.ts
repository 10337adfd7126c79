import { lengthOf } from '@slowwave/engine/storing';
import type { TermKey } from './record.ts';
import type { RoughVector, StoredPoint } from './stored-point.ts';

/** Where each term of very many points is: a question reads the lists of its own terms alone. Never written again. */
export interface Postings {
  /** Where the list of a term is; null: none of them has it. */
  placeOf(key: TermKey): { readonly first: number; readonly end: number } | null;
  /** Those that have a term, in their order. */
  readonly documents: Uint32Array;
  /** How often they do: as the lower half of the second word of an entry has it. */
  readonly counts: Uint16Array;
  readonly bytes: number;
}

/** Lists of the documents by their terms, one after the other. */
export function postingsOf(points: readonly StoredPoint[]): Postings {
  const terms = termNumbers();
  const all = points.map((point) => point.entries(true));
  const total = all.reduce((sum, { first, end }) => sum + (end - first) / 2, 0);
  // Once to count, once to write: a list of its own for each of a hundred thousand terms would take many times the room.
  const termOf = new Uint32Array(total);
  let at = 0;
  for (const { words, first, end } of all) {
    for (let i = first; i < end; i += 2) {
      termOf[at] = terms.numberOf(words[i] as number, (words[i + 1] as number) & HIGH_BITS);
      at += 1;
    }
  }
  const ends = new Uint32Array(terms.count() + 1);
  for (const term of termOf) ends[term + 1] = (ends[term + 1] as number) + 1;
  for (let term = 1; term < ends.length; term += 1) ends[term] = (ends[term] as number) + (ends[term - 1] as number);
  const next = ends.slice();
  const documents = new Uint32Array(total);
  const counts = new Uint16Array(total);
  at = 0;
  for (const [document, { words, first, end }] of all.entries()) {
    for (let i = first; i < end; i += 2) {
      const term = termOf[at] as number;
      const place = next[term] as number;
      documents[place] = document;
      counts[place] = (words[i + 1] as number) & LOW_BITS;
      next[term] = place + 1;
      at += 1;
    }
  }
  return {
    bytes: documents.byteLength + counts.byteLength + ends.byteLength + terms.bytes(),
    documents,
    counts,
    placeOf: ({ low, high }) => {
      const term = terms.find(low, high);
      return term === null ? null : { first: ends[term] as number, end: ends[term + 1] as number };
    },
  };
}

const LOW_BITS = 0xffff;
const HIGH_BITS = ~LOW_BITS;

/** Numbers for the keys of terms, in the order in which they come: a table that is looked up by the key itself, a hash already. */
function termNumbers() {
  let mask = 2 ** 14 - 1;
  let slots = new Uint32Array(mask + 1); // number + 1; 0: free
  let lows = new Uint32Array(2 ** 13);
  let highs = new Int32Array(2 ** 13);
  let count = 0;
  const slotOf = (low: number, high: number): number => {
    let slot = (low ^ (high >>> 16)) & mask;
    for (;;) {
      const known = (slots[slot] as number) - 1;
      if (known === -1 || (lows[known] === low && highs[known] === high)) return slot;
      slot = (slot + 1) & mask;
    }
  };
  const grow = (): void => {
    mask = (mask + 1) * 2 - 1;
    slots = new Uint32Array(mask + 1);
    [lows, highs] = [twiceAsLong(lows), twiceAsLong(highs)];
    for (let term = 0; term < count; term += 1) {
      slots[slotOf(lows[term] as number, highs[term] as number)] = term + 1;
    }
  };
  return {
    count: () => count,
    bytes: () => slots.byteLength + lows.byteLength + highs.byteLength,
    find: (low: number, high: number): number | null => {
      const number = slots[slotOf(low, high)] as number;
      return number === 0 ? null : number - 1;
    },
    numberOf: (low: number, high: number): number => {
      const slot = slotOf(low, high);
      const known = slots[slot] as number;
      if (known !== 0) return known - 1;
      lows[count] = low;
      highs[count] = high;
      slots[slot] = count + 1;
      count += 1;
      if (count === lows.length) grow();
      return count - 1;
    },
  };
}

function twiceAsLong<Numbers extends Uint32Array | Int32Array>(numbers: Numbers): Numbers {
  const longer = new (numbers.constructor as new (length: number) => Numbers)(numbers.length * 2);
  longer.set(numbers);
  return longer;
}

/**
 * One bit for each number of a vector: on which side of the owner's middle it lies. What is near a question has most of its
 * bits, which is seen sixty times as fast as its cosine. Of those with the most bits, the cosine is estimated: bits count as much as the
 * question's numbers do, and how far a vector is from the middle is kept beside its code. Only the best by that are compared.
 */
export interface Codes {
  put(document: number, vector: RoughVector): void;
  /** Of the documents that are marked as seen, if there are as many: the best by an estimate of those that share the most bits. */
  likely(seen: Uint8Array, question: Float32Array, least: Least): readonly number[];
  readonly bytes: number;
}

/** At least so many. */
interface Least {
  readonly byBits: number;
  readonly byEstimate: number;
}

/** Of fewer bits too many points share the same. */
export const CODE_BITS_MIN = 128;

const WORD_BITS = 32;
const WORD_BYTES = 4;

/** Codes for so many documents, by the vectors that they have now; what comes later is told apart by the same middle. */
export function codesOf(vectors: readonly RoughVector[], { dimensions, capacity }: Shape): Codes {
  const middle = middleOf(vectors, dimensions);
  const size = 2 * Math.ceil(dimensions / (2 * WORD_BITS));
  const room = differingCodes(capacity, size * WORD_BYTES);
  const { codes: words, distances } = room;
  const estimates = estimatesFor(room.codes, middle, { capacity, codeBytes: size * WORD_BYTES });
  const codes: Codes = {
    bytes: room.bytes + estimates.bytes,
    put: (document, vector) => {
      const { numbers, first, step } = vector;
      // What has no direction is as far from a question as chance has it.
      const isNowhere = step === 0;
      for (let word = 0; word < size; word += 1) {
        words[document * size + word] = isNowhere ? ALTERNATING : bits(word, (i) => (numbers[first + i] ?? 0) * step);
      }
      estimates.put(document, vector);
    },
    likely: (seen, question, { byBits, byEstimate }) => {
      const length = lengthOf(question) || 1;
      for (let word = 0; word < size; word += 1) room.question[word] = bits(word, (i) => (question[i] ?? 0) / length);
      room.compare(seen.length);
      const histogram = new Uint32Array(size * WORD_BITS + 1);
      for (let document = 0; document < seen.length; document += 1) {
        const distance = distances[document] as number;
        if (seen[document] === 1) histogram[distance] = (histogram[distance] as number) + 1;
      }
      const near = within(furthest(histogram, byBits), { seen, distances });
      return near.length <= byEstimate ? near : estimates.best(near, question, byEstimate);
    },
  };
  for (const [document, vector] of vectors.entries()) codes.put(document, vector);
  return codes;

  function bits(word: number, valueAt: (i: number) => number): number {
    const from = word * WORD_BITS;
    const end = Math.min(dimensions, from + WORD_BITS);
    let code = 0;
    for (let i = from; i < end; i += 1) if (valueAt(i) > (middle[i] as number)) code |= 1 << (i - from);
    return code;
  }
}

interface Shape {
  readonly dimensions: number;
  readonly capacity: number;
}

const ALTERNATING = 0x55_55_55_55;

/** Any two texts are somewhat alike to a model: all of its vectors lean to one side. What tells them apart is where they lie from there. */
function middleOf(vectors: readonly RoughVector[], dimensions: number): Float64Array {
  const middle = new Float64Array(dimensions);
  let directed = 0;
  for (const { numbers, first, step } of vectors) {
    if (step === 0) continue;
    directed += 1;
    for (let i = 0; i < dimensions; i += 1) middle[i] = (middle[i] as number) + (numbers[first + i] as number) * step;
  }
  return directed === 0 ? middle : middle.map((sum) => sum / directed);
}

/** The distance within which at least so many are. */
function furthest(histogram: Uint32Array, least: number): number {
  let found = 0;
  for (const [distance, count] of histogram.entries()) {
    found += count;
    if (found >= least) return distance;
  }
  return histogram.length;
}

function within(most: number, { seen, distances }: { seen: Uint8Array; distances: Uint16Array }): readonly number[] {
  const likely: number[] = [];
  for (let document = 0; document < seen.length; document += 1) {
    if (seen[document] === 1 && (distances[document] as number) <= most) likely.push(document);
  }
  return likely;
}

/**
 * How many bits a question's code differs in from each of very many others: the one loop that is so short and so hot that it is
 * written in WebAssembly, by hand, as it counts the bits of eight bytes with one instruction. JavaScript takes ten times as long.
 */
interface Differing {
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
function differingCodes(capacity: number, codeBytes: number): Differing {
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

/**
 * Cosines by codes: what a vector has beside the middle is taken for a step of one size up or down in each dimension, by its bit. That
 * step, and the part that lies along the middle, are kept for each document. What a question's numbers add up to is looked up by bytes.
 */
interface Estimates {
  put(document: number, vector: RoughVector): void;
  /** The so many best of these documents, and those that are as good as the last of them. */
  best(documents: readonly number[], question: Float32Array, count: number): readonly number[];
  readonly bytes: number;
}

interface Sizes {
  readonly capacity: number;
  readonly codeBytes: number;
}

const BITS = 8;
const VALUES = 2 ** BITS;

/** For these codes, about this middle. */
function estimatesFor(codes: Int32Array, middle: Float64Array, { capacity, codeBytes }: Sizes): Estimates {
  const bytes = new Uint8Array(codes.buffer, codes.byteOffset, codes.byteLength);
  const steps = new Float32Array(capacity);
  const along = new Float32Array(capacity);
  const sums = new Float32Array(codeBytes * VALUES);
  return {
    bytes: steps.byteLength + along.byteLength + sums.byteLength,
    put: (document, { numbers, first, step }) => {
      let [squares, sum, ofMiddle] = [0, 0, 0];
      for (let i = 0; i < middle.length; i += 1) {
        const value = (numbers[first + i] as number) * step;
        const beside = value - (middle[i] as number);
        squares += beside * beside;
        sum += Math.abs(beside);
        ofMiddle += value * (middle[i] as number);
      }
      steps[document] = step === 0 || sum === 0 ? 0 : squares / sum;
      along[document] = ofMiddle;
    },
    best: (documents, question, count) => {
      sumUp(sums, question, middle);
      const found = new Float64Array(documents.length);
      for (let i = 0; i < documents.length; i += 1) {
        const document = documents[i] as number;
        let sum = 0;
        for (let place = 0, at = document * codeBytes; place < codeBytes; place += 1, at += 1) {
          sum += sums[place * VALUES + (bytes[at] as number)] as number;
        }
        found[i] = sum * (steps[document] as number) + (along[document] as number);
      }
      const least = found.slice().sort()[documents.length - count] as number;
      return documents.filter((_, i) => (found[i] as number) >= least);
    },
  };
}

/** What each value of each byte of a code comes to for a question. */
function sumUp(sums: Float32Array, question: Float32Array, middle: Float64Array): void {
  const length = lengthOf(question) || 1;
  const places = sums.length / VALUES;
  for (let place = 0; place < places; place += 1) {
    const [first, base] = [place * BITS, place * VALUES];
    const weights = Array.from({ length: BITS }, (_, bit) =>
      first + bit < middle.length ? (question[first + bit] ?? 0) / length - (middle[first + bit] as number) : 0,
    );
    sums[base] = -weights.reduce((sum, weight) => sum + weight, 0);
    for (let bit = 0; bit < BITS; bit += 1) {
      const [before, twice] = [2 ** bit, 2 * (weights[bit] as number)];
      for (let value = 0; value < before; value += 1) {
        sums[base + before + value] = (sums[base + value] as number) + twice;
      }
    }
  }
}
