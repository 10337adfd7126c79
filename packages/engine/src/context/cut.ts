import type { Tokenizer } from '../ports/tokenizer.ts';

const ELLIPSIS = '…';
/** Prose has four characters to a token, rarely eight: what is longer is cut before it is counted, which takes time. */
const CHARACTERS_PER_TOKEN_MAX = 8;

const words = new Intl.Segmenter(undefined, { granularity: 'word' });

/**
 * A text of at most so many tokens: as it is, or its beginning up to the end of a word, with an ellipsis. null where not
 * even its first word fits.
 */
export function cutAtWord(tokenizer: Tokenizer, text: string, maxTokens: number): string | null {
  const beginning = text.slice(0, Math.max(0, maxTokens) * CHARACTERS_PER_TOKEN_MAX);
  if (beginning.length === text.length && tokenizer.count(text) <= maxTokens) return text;
  const ends = endsOfWords(beginning);
  const partTo = (end: number): string => beginning.slice(0, end).trimEnd() + ELLIPSIS;
  let fits = -1;
  let tooLong = ends.length;
  while (tooLong - fits > 1) {
    const middle = (fits + tooLong) >> 1;
    if (tokenizer.count(partTo(ends[middle] ?? 0)) <= maxTokens) fits = middle;
    else tooLong = middle;
  }
  return fits === -1 ? null : partTo(ends[fits] ?? 0);
}

/** Where words end that are whole for certain: the last one may go on behind the beginning that is looked at. */
function endsOfWords(beginning: string): number[] {
  const ends: number[] = [];
  for (const { index, segment, isWordLike } of words.segment(beginning)) {
    if (isWordLike === true) ends.push(index + segment.length);
  }
  return ends.filter((end) => end < beginning.length);
}
