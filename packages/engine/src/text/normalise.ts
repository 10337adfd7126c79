/** Sentence punctuation that says nothing about what is said. Signs that belong to a name (C++, C#, 50%) are not in it. */
const TRAILING = new Set([...'.,;:!?…。、．，；：！？｡､', '؟', '۔', '।', ' ']);

/**
 * The form in which two texts are compared for being the same thing said again: compatibility characters unified, lower
 * case, single spaces, no punctuation at the end.
 */
export function normaliseText(text: string): string {
  const unified = IN_WORDS.test(text) ? text.toLowerCase() : unify(text);
  return withoutTrailing(unified) || unified;
}

/** Whether two texts are the same thing said again. */
export const sameText = (one: string, other: string): boolean => normaliseText(one) === normaliseText(other);

/**
 * What texts are compared by: their normalised form. Most differ in how they begin, so that of a long one the rest is
 * normalised only when it is asked for.
 */
export class Wording {
  /** The first characters of the whole. */
  readonly begin: string;
  readonly #text: string;
  #whole: string | undefined;

  constructor(text: string) {
    this.#text = text;
    const isShort = text.length <= READ_FIRST;
    const some = normaliseText(isShort ? text : text.slice(0, READ_FIRST).trimEnd());
    if (isShort) this.#whole = some;
    // What stands at a cut may read otherwise, but no longer so far before it.
    const enough = isShort || some.length > READ_FIRST - BEGIN / 2 ? some : this.whole;
    this.begin = enough.length > BEGIN ? enough.slice(0, BEGIN) : enough;
  }

  get whole(): string {
    this.#whole ??= normaliseText(this.#text);
    return this.#whole;
  }
}

/** In characters. */
const READ_FIRST = 80;
const BEGIN = 48;

function unify(text: string): string {
  const unified = cleanText(text).normalize('NFKC');
  const lower = unified.toLowerCase();
  // Lower case may have compatibility characters of its own; most scripts have no case.
  const same = lower === unified ? unified : lower.normalize('NFKC');
  return (UNEVEN.test(same) ? same.replace(/\s+/gu, ' ') : same).trim();
}

const UNEVEN = /\s\s|[^\S ]/u;

/** Most English: nothing in it has to be unified, and single spaces are all there is between its words. */
const IN_WORDS = /^[!-~]+(?: [!-~]+)*$/u;

/** A text that every store, model and terminal takes as it is: no half characters, no invisible or control characters. */
export function cleanText(text: string): string {
  if (isPlainWord(text) || PLAIN.test(text) || ASCII.test(text) || (!DOUBTFUL.test(text) && text.isWellFormed()))
    return text;
  return text
    .toWellFormed()
    .replace(LINE_BREAK, '\n')
    .replace(CONTROL, '')
    .replace(INVISIBLE, '')
    .replace(TAG_LETTERS, '$1')
    .replace(IDLE_JOINER, '');
}

/** So short that a pattern would take longer to begin than this to end. */
function isPlainWord(text: string): boolean {
  if (text.length > WORD_MAX) return false;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code < 0x20 || code > 0x7e) return false;
  }
  return true;
}

const WORD_MAX = 12;

/** Nothing unseen: sooner found out than the absence of what is doubtful, and soonest of most texts. */
const PLAIN = /^[ -~]*$/u;
const ASCII = /^[\n\t -~]*$/;
/** What any of the patterns below begins with: hardly any text has one, and each pattern reads all of it. */
const DOUBTFUL = /[[\p{Cc}--[\n\t]]\u200b-\u200d\u2060\ufeff\u{E0000}-\u{E007F}]/v;
const LINE_BREAK = /\r\n?|\u0085/gu;
const CONTROL = /(?![\n\t])\p{Cc}/gu;
/** Zero-width space, word joiner, byte order mark. */
const INVISIBLE = /[\u200b\u2060\ufeff]/gu;
/** Letters nobody sees but models: they spell flags after a black one, and hide instructions anywhere else. */
const TAG_LETTERS = /(\u{1F3F4}[\u{E0030}-\u{E0039}\u{E0061}-\u{E007A}]{2,6}\u{E007F})|[\u{E0000}-\u{E007F}]/gu;
/** Joiners are spelling in Persian, Indic scripts and emoji families; anywhere else they only hide differences. */
const IDLE_JOINER = /(?<![\p{M}\p{Extended_Pictographic}\p{Emoji_Modifier}\p{Script=Arabic}])[\u200c\u200d]/gu;

/** By hand: a pattern anchored at the end takes quadratic time on long runs of dots. */
function withoutTrailing(text: string): string {
  let end = text.length;
  while (end > 0 && TRAILING.has(text.charAt(end - 1))) end -= 1;
  return text.slice(0, end);
}

const PRIME = 0x01000193;

/**
 * Distinguishes the few texts of one memory when they are no longer there: 64 bits, the same for texts that read the same. It
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

/** JSON with the keys of every object in order: equal values give equal texts. */
export function canonical(value: unknown): string {
  return JSON.stringify(value, (_key, child: unknown) => (isPlain(child) ? sorted(child) : child));
}

const isPlain = (value: unknown): value is object =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const sorted = (value: object): object =>
  Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0)));

/** Quarters of a token. */
const BASIC = 1;
const ALPHABET = 2;
const DENSE = 4;

/** Up to which character code a character costs what: averages of common tokenizers, rounded up. */
const COSTS = [
  { last: 0x007f, cost: BASIC },
  { last: 0x08ff, cost: ALPHABET }, // accented Latin, Greek, Cyrillic, Hebrew, Arabic
  { last: 0x1dff, cost: DENSE }, // Indic scripts, Thai
  { last: 0x206f, cost: ALPHABET }, // more Latin; dashes and quotes
  { last: 0xffff, cost: DENSE }, // East Asian scripts, halves of emoji
];

/** About how many tokens a model counts for a text. Cheap enough for every message; never for billing. */
export function estimateTokens(text: string): number {
  // Looking for the first other character takes a fraction of the time that counting them one by one does.
  const other = text.search(NOT_BASIC);
  if (other === -1) return Math.ceil((text.length * BASIC) / DENSE);
  let quarters = other * BASIC;
  for (let i = other; i < text.length; i += 1) quarters += costOf(text.charCodeAt(i));
  return Math.ceil(quarters / DENSE);
}

const NOT_BASIC = /[\u0080-\uffff]/;

function costOf(code: number): number {
  if (code <= 0x7f) return BASIC; // nearly all, so without a search
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

/** How much of the beginning of two texts is the same, in UTF-16 units. */
export function sharedBeginning(one: string, other: string): number {
  let length = 0;
  while (length < one.length && one[length] === other[length]) length += 1;
  return length;
}
