import { estimateTokens } from './tokens.ts';

const ELLIPSIS = '…';
/** No character costs less than a quarter of a token. */
const CHARACTERS_PER_TOKEN_MAX = 4;

/** A text of at most about so many tokens: as it is, or its beginning with an ellipsis. */
export function shorten(text: string, maxTokens: number): string {
  const longest = text.slice(0, maxTokens * CHARACTERS_PER_TOKEN_MAX);
  if (longest.length === text.length && estimateTokens(text) <= maxTokens) return text;
  let fits = 0;
  let tooLong = longest.length + 1;
  while (tooLong - fits > 1) {
    const middle = Math.floor((fits + tooLong) / 2);
    if (estimateTokens(longest.slice(0, middle) + ELLIPSIS) <= maxTokens) fits = middle;
    else tooLong = middle;
  }
  return withoutHalf(longest.slice(0, fits)) + ELLIPSIS;
}

/** The beginning of a text, at most so many UTF-16 units of it. */
export const cut = (text: string, units: number): string => withoutHalf(text.slice(0, units));

/** A cut may go through the middle of a character. */
const withoutHalf = (text: string): string => text.replace(/[\uD800-\uDBFF]$/u, '');
