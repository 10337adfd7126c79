import { withoutFrame } from './frame.ts';
import { normaliseText } from './normalise.ts';
import { charactersAndPairs, porterStem, STOP_WORDS, type Word, wordsOf } from './terms.ts';

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
  if (sums.every((sum) => sum === 0)) add(`text ${normaliseText(text)}`, WORD);
  const length = Math.sqrt(sums.reduce((total, sum) => total + sum * sum, 0));
  return Float32Array.from(sums, (sum) => sum / length);
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
