import { lengthOf } from '@slowwave/engine/storing';
import type { RoughVector } from './stored-point.ts';

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

interface Shape {
  readonly capacity: number;
  readonly codeBytes: number;
}

const BITS = 8;
const VALUES = 2 ** BITS;

/** For these codes, about this middle. */
export function estimatesFor(codes: Int32Array, middle: Float64Array, { capacity, codeBytes }: Shape): Estimates {
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
