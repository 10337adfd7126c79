import type { IndexHit } from '../../ports/search-index.ts';

/**
 * Taken from what itself asks: it has the words of the question, the answer stands behind it. Gains 1.5 points of R@1 and 1
 * of R@10 on raw messages; facts do not ask.
 */
const ASKS = 0.1;

/** Ends with a question mark of any script, before quotes, brackets, emoji, or the description of an image. */
const QUESTION_END = /[?？؟](?:["'”’」』)\]\s]|\p{Extended_Pictographic}|\ufe0f)*(?:\n\[image[^\]]*\])?$/u;

export function asking(hits: readonly IndexHit[]): readonly number[] {
  return hits.map(({ point }) => (QUESTION_END.test(point.text.slice(-TAIL)) ? -ASKS : 0));
}

/** UTF-16 units that are looked at: an end and an image's description. */
const TAIL = 300;
