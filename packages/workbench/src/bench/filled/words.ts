import { DEFAULT_TENANT, hashVector, roundedVector, terms } from '@slowwave/engine';
import { type Random, seededRandom } from '../../chaos/random.ts';

/** A made-up word with what the index needs of it, found out once: a million memories are made of a few thousand words. */
interface Word {
  readonly text: string;
  readonly terms: readonly string[];
  readonly vector: Float32Array;
}

/** Words of a language that nobody speaks, some far more frequent than others, as in any language. */
export interface Vocabulary {
  /** So many words, one after the other. */
  sentence(random: Random, words: number): readonly Word[];
}

const SIZE = 3_000;
const SYLLABLES = ['ba', 'do', 'fi', 'gu', 'ke', 'la', 'mo', 'ni', 'pa', 'ro', 'su', 'te', 'vi', 'wo', 'ze', 'shi'];

export function vocabulary(dimensions: number): Vocabulary {
  const random = seededRandom(`words of ${DEFAULT_TENANT}`);
  const words = Array.from({ length: SIZE }, () => {
    const text = Array.from({ length: random.between(2, 4) }, () => random.pick(SYLLABLES)).join('');
    return { text, terms: terms(text), vector: hashVector(text, dimensions) };
  });
  // The n-th word is about as frequent as 1 ÷ n (Zipf).
  const draw = (from: Random): Word => words[Math.floor(SIZE ** from.next()) - 1] as Word;
  return { sentence: (from, count) => Array.from({ length: count }, () => draw(from)) };
}

export const textOf = (words: readonly Word[]): string => words.map(({ text }) => text).join(' ');

export const termsOf = (words: readonly Word[]): string[] => words.flatMap((word) => word.terms);

/** The sum of the words' vectors, of length 1 and rounded as every vector is: near that of any text with many of them. */
export function vectorOf(words: readonly Word[]): Float32Array {
  const sum = new Float32Array(words[0]?.vector.length ?? 0);
  for (const { vector } of words) for (let i = 0; i < sum.length; i += 1) sum[i] = (sum[i] ?? 0) + (vector[i] ?? 0);
  let squares = 0;
  for (const value of sum) squares += value * value;
  const scale = 1 / (Math.sqrt(squares) || 1);
  for (let i = 0; i < sum.length; i += 1) sum[i] = (sum[i] ?? 0) * scale;
  return roundedVector(sum);
}
