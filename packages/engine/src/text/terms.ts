import { IRREGULAR } from './irregular.ts';
import { porterStem } from './porter.ts';
import { STOP_WORDS } from './stop-words.ts';
import { type Word, wordsOf } from './words-of.ts';

/** Goes up whenever the same text gives other terms: an index made with another number has to be rebuilt. */
export const TERMS_VERSION = 2;

/**
 * The terms of the keyword leg, in order and with repeats: stems of words without the commonest ones, irregular
 * forms by their base; names as they are and in parts; single characters and pairs where a script does not separate words.
 */
export function terms(text: string): string[] {
  return wordsOf(text).flatMap(termsOf);
}

function termsOf(word: Word): string[] {
  if (word.kind === 'unspaced') return charactersAndPairs(word.text);
  if (word.kind !== 'plain') return [word.text];
  if (STOP_WORDS.has(word.text)) return [];
  return [/^[a-z]+$/.test(word.text) ? porterStem(IRREGULAR.get(word.text) ?? word.text) : word.text];
}

/** 北京人 → 北, 京, 人, 北京, 京人: a two-character word is found inside any longer run. */
export function charactersAndPairs(run: string): string[] {
  const characters = [...run];
  const pairs = characters.slice(1).map((character, i) => `${characters[i]}${character}`);
  return [...characters, ...pairs];
}
