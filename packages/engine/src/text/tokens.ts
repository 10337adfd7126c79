/** Quarters of a token. */
const ASCII = 1;
const ALPHABET = 2;
const DENSE = 4;

/** Up to which character code a character costs what: averages of common tokenizers, rounded up. */
const COSTS = [
  { last: 0x007f, cost: ASCII },
  { last: 0x08ff, cost: ALPHABET }, // accented Latin, Greek, Cyrillic, Hebrew, Arabic
  { last: 0x1dff, cost: DENSE }, // Indic scripts, Thai
  { last: 0x206f, cost: ALPHABET }, // more Latin; dashes and quotes
  { last: 0xffff, cost: DENSE }, // East Asian scripts, halves of emoji
];

/** About how many tokens a model counts for a text. Cheap enough for every message; never for billing. */
export function estimateTokens(text: string): number {
  // Looking for the first other character takes a fraction of the time that counting them one by one does.
  const other = text.search(NOT_ASCII);
  if (other === -1) return Math.ceil((text.length * ASCII) / DENSE);
  let quarters = other * ASCII;
  for (let i = other; i < text.length; i += 1) quarters += costOf(text.charCodeAt(i));
  return Math.ceil(quarters / DENSE);
}

const NOT_ASCII = /[\u0080-\uffff]/;

function costOf(code: number): number {
  if (code <= 0x7f) return ASCII; // nearly all, so without a search
  return COSTS.find(({ last }) => code <= last)?.cost ?? DENSE;
}

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

/** A token has at least one byte, and what UTF-16 has as one unit has three bytes in UTF-8 at the most. */
const TOKENS_PER_UNIT_MAX = 3;

/** Whether texts fit into so many tokens however they are counted. Counting costs far more than this. */
export function surelyFits(
  texts: readonly string[],
  { tokens, around }: { readonly tokens: number; readonly around: number },
): boolean {
  return texts.reduce((sum, text) => sum + text.length * TOKENS_PER_UNIT_MAX + around, 0) <= tokens;
}
