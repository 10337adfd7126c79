import { normaliseText } from '../text/normalise.ts';
import { charactersAndPairs, porterStem, STOP_WORDS, type Word, withoutFrame, wordsOf } from '../text/terms.ts';

// Vectors: how those of a model read, how hashed ones are made, and how all of them are kept.

/** How the vectors of an embedder are made, and how its cosines read. */
export interface Vectors {
  /** By hashing, or by a model that has learnt what is near. */
  readonly kind: 'hashed' | 'learnt';
  /**
   * The share of words in a hybrid score. Learnt vectors find other wordings, and .6 keeps the best of both. Hashed ones know
   * little that words do not: with .6 of them R@5 on raw messages falls by 4 points.
   */
  readonly words: number;
  /** The same for raw messages: what was said beside them is in their words alone. */
  readonly wordsOfMessages: number;
  readonly questions: QuestionCosines;
}

/** How near a question is to what has nothing to do with it, and to its answer. */
export interface QuestionCosines {
  /** Of what has nothing to do with it half is further away than this, and nine in ten than that. */
  readonly apart: number;
  readonly apartMost: number;
  /** Half of all answers are nearer. */
  readonly answer: number;
}

/** By the words and how they are spelled: nobody asks how near these are to a question. */
export const HASHED: Vectors = {
  kind: 'hashed',
  words: 0.8,
  wordsOfMessages: 0.8,
  questions: { apart: 0, apartMost: 0.06, answer: 0.15 },
};
/** Of a small model, MiniLM, in English. */
export const LEARNT: Vectors = {
  kind: 'learnt',
  words: 0.6,
  wordsOfMessages: 0.7,
  questions: { apart: 0.01, apartMost: 0.14, answer: 0.41 },
};

/** Goes up whenever the same text gives another vector: part of the fingerprint of a vector space. */
export const HASH_VECTOR_VERSION = 2;

const DIMENSIONS = 1_024;

/** How much a feature counts: words most; parts of words only help over spelling and grammar. */
const WORD = 1;
const PAIR = 0.5;
const GRAM = 0.3;
const GRAM_SIZES = [3, 4, 5];

type Add = (feature: string, weight: number) => void;

/**
 * A vector of length 1 that needs no model: the words of a text, their pairs and their 3 to 5 letter parts, each hashed to one
 * signed dimension. The frame of a fact is left out. The same on every machine. A text without words is known by its exact spelling
 * alone.
 */
export function hashVector(text: string, dimensions: number = DIMENSIONS): Float32Array {
  const sums = new Float64Array(dimensions);
  const add: Add = (feature, weight) => {
    const hash = hashOf(feature);
    const i = (hash >>> 1) % dimensions;
    sums[i] = (sums[i] ?? 0) + (hash % 2 === 0 ? weight : -weight);
  };
  addWords(text, add);
  if (squaresOf(sums) === 0) add(`text ${normaliseText(text)}`, WORD);
  const length = Math.sqrt(squaresOf(sums));
  const vector = new Float32Array(dimensions);
  for (let i = 0; i < dimensions; i += 1) vector[i] = (sums[i] as number) / length;
  return vector;
}

function squaresOf(sums: Float64Array): number {
  let squares = 0;
  for (let i = 0; i < sums.length; i += 1) squares += (sums[i] as number) * (sums[i] as number);
  return squares;
}

function addWords(text: string, add: Add): void {
  let before: string | null = null;
  for (const word of wordsOf(withoutFrame(text))) {
    if (STOP_WORDS.has(word.text)) continue;
    if (word.kind === 'unspaced') {
      for (const part of charactersAndPairs(word.text)) add(`word ${part}`, WORD);
      before = null;
      continue;
    }
    const stem = /^[a-z]+$/.test(word.text) ? porterStem(word.text) : word.text;
    add(`word ${stem}`, WORD);
    if (before !== null) add(`pair ${before} ${stem}`, PAIR);
    addGrams(word, add);
    before = stem;
  }
}

/** Parts of a word, its ends marked. Names and signs are looked for as a whole. */
function addGrams(word: Word, add: Add): void {
  if (word.kind !== 'plain') return;
  const marked = `^${word.text}$`;
  for (const size of GRAM_SIZES) {
    for (let i = 0; i + size <= marked.length; i += 1) add(`gram ${marked.slice(i, i + size)}`, GRAM);
  }
}

/** FNV-1a over UTF-16 units with the finish of MurmurHash3, so that also the low bits are even. 32 bits, unsigned. */
function hashOf(feature: string): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < feature.length; i += 1) hash = Math.imul(hash ^ feature.charCodeAt(i), 0x01000193);
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}

/*
 * Vectors in 8-bit numbers, as they are kept: one step for all numbers, then how many steps each of them is.
 */

const STEP_BYTES = 4;
const NUMBER_MAX = 127;
const LITTLE_END_FIRST = true;
/** Bits of a step that are zero, so that a step taken up to 127 times is exact in 32 bits: what is packed again stays as it is. */
const SPARE_BITS = 0xff;

export function packedVector(vector: Float32Array): Uint8Array {
  const bytes = new Uint8Array(STEP_BYTES + vector.length);
  const step = stepOf(vector);
  if (step === 0) return bytes;
  new DataView(bytes.buffer).setFloat32(0, step, LITTLE_END_FIRST);
  const numbers = new Int8Array(bytes.buffer, STEP_BYTES);
  for (let i = 0; i < vector.length; i += 1) numbers[i] = Math.round((vector[i] as number) / step);
  return bytes;
}

export function unpackedVector(bytes: Uint8Array): Float32Array {
  const step = new DataView(bytes.buffer, bytes.byteOffset).getFloat32(0, LITTLE_END_FIRST);
  const numbers = new Int8Array(bytes.buffer, bytes.byteOffset + STEP_BYTES, bytes.length - STEP_BYTES);
  return Float32Array.from(numbers, (number) => number * step);
}

/** As it is once it was kept. Every vector is that from the beginning, so that what is found does not depend on where it was read. */
export const roundedVector = (vector: Float32Array): Float32Array => unpackedVector(packedVector(vector));

/** The least step, of those that are exact, by which the largest number is no more than 127. */
function stepOf(vector: Float32Array): number {
  let largest = 0;
  for (let i = 0; i < vector.length; i += 1) largest = Math.max(largest, Math.abs(vector[i] as number));
  const view = new DataView(new ArrayBuffer(STEP_BYTES));
  view.setFloat32(0, largest / NUMBER_MAX);
  view.setUint32(0, (view.getUint32(0) + SPARE_BITS) & ~SPARE_BITS);
  return view.getFloat32(0);
}
