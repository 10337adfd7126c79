import { normaliseText } from '../../text/normalise.ts';
import { overlap } from '../../text/similarity.ts';
import { terms } from '../../text/terms.ts';

/** Shared terms among all terms, from which on two texts that are worded in the same order tell the same. */
const NEAR = 0.8;

/** A text, prepared for being compared with many. */
export interface Told {
  readonly normal: string;
  readonly terms: readonly string[];
  readonly termSet: ReadonlySet<string>;
  /** What makes another fact of the same words: numbers and negations. */
  readonly turns: string;
}

export function toldOf(text: string): Told {
  const normal = normaliseText(text);
  const all = terms(text);
  return { normal, terms: all, termSet: new Set(all), turns: (normal.match(TURNS) ?? []).join(' ') };
}

/**
 * Whether it is enough to tell one of two facts: the same words, or nearly, in the same order ("Ann loves Bob" is not
 * "Bob loves Ann"), with the same numbers, denied as often. In doubt both are told.
 */
export function tellTheSame(a: Told, b: Told): boolean {
  if (a.normal === b.normal) return true;
  if (a.turns !== b.turns || a.terms.length === 0 || overlap(a.termSet, b.termSet) < NEAR) return false;
  return a.terms.length <= b.terms.length ? isWithin(a.terms, b.terms) : isWithin(b.terms, a.terms);
}

const TURNS =
  /\p{N}+|\b(?:not?|never|nor|none|cannot|without|longer|stopped|former|formerly)\b|n['’]t|[不没無无别非未勿]/gu;

function isWithin(part: readonly string[], whole: readonly string[]): boolean {
  let found = 0;
  for (const term of whole) if (term === part[found]) found += 1;
  return found === part.length;
}
