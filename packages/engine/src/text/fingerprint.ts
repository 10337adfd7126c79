import { normaliseText } from './normalise.ts';

const PRIME = 0x01000193;

/**
 * Tells the few texts of one memory apart when they are no longer there: 64 bits, the same for texts that read the same. It
 * hides a text from a reader, not from somebody who guesses it.
 */
export function fingerprint(text: string): string {
  const words = normaliseText(text);
  return [0x811c9dc5, 0x9747b28c].map((seed) => part(words, seed)).join('');
}

function part(words: string, seed: number): string {
  let hash = seed;
  for (let i = 0; i < words.length; i += 1) hash = Math.imul(hash ^ words.charCodeAt(i), PRIME);
  hash = Math.imul(hash ^ (hash >>> 15), PRIME + seed);
  return ((hash ^ (hash >>> 13)) >>> 0).toString(16).padStart(8, '0');
}
