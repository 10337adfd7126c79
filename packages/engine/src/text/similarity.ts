import { normaliseText } from './normalise.ts';
import { termSet } from './terms.ts';

/** A text, or its terms for who compares it often. */
export type Comparable = string | ReadonlySet<string>;

/** How much two texts speak of the same: shared terms among all their terms (Jaccard), 0…1. */
export function overlap(a: Comparable, b: Comparable): number {
  const [left, right] = [setOf(a), setOf(b)];
  const shared = countShared(left, right);
  const all = left.size + right.size - shared;
  return all === 0 ? sameSpelling(a, b) : shared / all;
}

/** How much of the first text is said in the second: its terms found there (containment), 0…1. */
export function containment(part: Comparable, whole: Comparable): number {
  const [asked, given] = [setOf(part), setOf(whole)];
  return asked.size === 0 ? sameSpelling(part, whole) : countShared(asked, given) / asked.size;
}

const setOf = (one: Comparable): ReadonlySet<string> => (typeof one === 'string' ? termSet(one) : one);

function countShared(a: ReadonlySet<string>, b: ReadonlySet<string>): number {
  let shared = 0;
  for (const term of a) if (b.has(term)) shared += 1;
  return shared;
}

/** Texts without any term ("??", "not me") are alike only if they are equal. */
function sameSpelling(a: Comparable, b: Comparable): number {
  return typeof a === 'string' && typeof b === 'string' && normaliseText(a) === normaliseText(b) ? 1 : 0;
}
