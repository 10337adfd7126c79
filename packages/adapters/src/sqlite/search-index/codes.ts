import { lengthOf } from '@slowwave/engine/storing';
import { differingCodes } from './differing.ts';
import { estimatesFor } from './estimates.ts';
import type { RoughVector } from './stored-point.ts';

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
