import { normaliseText } from '../text/normalise.ts';
import { overlap } from '../text/similarity.ts';

/** Shared words among all words, from which on two texts that are worded in the same order tell the same. */
const NEAR = 0.8;

/** A text, prepared for being compared with many. */
export interface Told {
  readonly normal: string;
  /** As they are spelled, for a quick look: the decisions of a consolidation have compared the texts with more care. */
  readonly words: readonly string[];
  readonly wordSet: ReadonlySet<string>;
  /** What makes another fact of the same words: numbers and negations. */
  readonly turns: string;
}

export function toldOf(text: string): Told {
  const normal = normaliseText(text);
  const words = normal.match(WORDS) ?? [];
  return { normal, words, wordSet: new Set(words), turns: (normal.match(TURNS) ?? []).join(' ') };
}

/**
 * Whether it is enough to tell one of two facts: the same words, or nearly, in the same order ("Ann loves Bob" is not
 * "Bob loves Ann"), with the same numbers, denied as often. In doubt both are told.
 */
export function tellTheSame(a: Told, b: Told): boolean {
  if (a.normal === b.normal) return true;
  if (a.turns !== b.turns || a.words.length === 0 || overlap(a.wordSet, b.wordSet) < NEAR) return false;
  return a.words.length <= b.words.length ? isWithin(a.words, b.words) : isWithin(b.words, a.words);
}

const WORDS = /\p{Script=Han}|[\p{L}\p{M}\p{N}]+/gu;

const TURNS =
  /\p{N}+|\b(?:not?|never|nor|none|cannot|without|longer|stopped|former|formerly)\b|n['’]t|[不没無无别非未勿]/gu;

function isWithin(part: readonly string[], whole: readonly string[]): boolean {
  let found = 0;
  for (const word of whole) if (word === part[found]) found += 1;
  return found === part.length;
}
