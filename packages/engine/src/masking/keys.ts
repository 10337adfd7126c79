import type { SecretKind } from './secrets.ts';

export interface KeyForm {
  readonly kind: SecretKind;
  /** The secret is the group `value`, else the whole match. */
  readonly form: RegExp;
}

interface RareForm extends KeyForm {
  /** Where one of these does not stand there is no such secret: looked for first, as that takes next to no time. */
  readonly needs: readonly string[];
}

/**
 * Beginnings that services give their keys, so that they can be found where they should not be. A key has a digit in
 * it somewhere: names of packages and branches begin alike.
 */
const BEGINNINGS = [
  'sk-ant-',
  'sk-proj-',
  'sk-or-',
  'sk-',
  '[rs]k_(?:live|test)_',
  'whsec_',
  'gh[oprsu]_',
  'github_pat_',
  'glpat-',
  'xox[abeoprs]-',
  'xapp-',
  'hf_',
  'gsk_',
  'xai-',
  'pplx-',
  'tvly-',
  'm0-',
  'npm_',
  'pypi-',
  'dop_v1_',
  'shp(?:at|ca|pa|ss)_',
  'lin_api_',
  'ntn_',
  'dapi',
  'sbp_',
  'vercel_',
  'SG\\.',
  'ya29\\.',
  'AIza',
  'AGE-SECRET-KEY-1',
].join('|');

/** How far before its long word a key is called one, at most: "encryption secret". In characters. */
export const CALLED_BEFORE = 32;

/**
 * Keys that are one long word, whatever it is called: sought around such words only, which few texts have. Each form can
 * begin only where no longer word goes on, so that no text is read more than once per form.
 */
export const LONG_KEYS: readonly KeyForm[] = [
  { kind: 'JWT', form: /(?<![\w-])eyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]*/gu },
  {
    kind: 'API key',
    form: new RegExp(`(?<![\\w-])(?:${BEGINNINGS})(?=[A-Za-z_.-]*\\d)[\\w.-]{15,}[\\w-]`, 'gu'),
  },
  { kind: 'API key', form: /(?<![A-Za-z0-9])A(?:KIA|SIA|ROA)[0-9A-Z]{16}(?![A-Za-z0-9])/gu },
  {
    kind: 'API key',
    form: /(?<![\p{L}\p{N}])(?:api|secret|access|auth|client|account|signing|encryption)[ _-]?(?:key|token|secret)(?![\p{L}\p{N}])\\?["'`]?\s{0,3}(?:is|=>?|:|：|是|为)?\s{0,3}\\?["'`]?(?<value>(?=[A-Za-z_.+/-]*\d)[\w.+/=-]{16,})/giu,
  },
  {
    kind: 'API key',
    form: /(?<![\p{L}\p{N}])(?:bearer|authorization: basic)\s{1,3}(?<value>(?=[A-Za-z_.+/~-]*\d)[\w.+/=~-]{16,})/giu,
  },
];

/** Keys in lines, and those of accounts in addresses. */
export const OTHER_KEYS: readonly RareForm[] = [
  {
    kind: 'private key',
    needs: ['-----BEGIN '],
    form: /-----BEGIN (?:[A-Z]{1,12} ){0,3}PRIVATE KEY(?: BLOCK)?-----[^"]*?(?:-----END [A-Z ]{1,40}-----|(?=")|$)/gu,
  },
  {
    kind: 'password',
    needs: ['@', '://'],
    form: /:(?<=(?<![A-Za-z0-9+.-])[a-z][a-z0-9+.-]{1,15}:\/\/[^\s/:@"]{0,64}:)(?<value>[^\s/@"]{1,256})(?=@)/giu,
  },
];

/** A part of a text, from `start` to before `end`. */
interface Part {
  readonly start: number;
  readonly end: number;
}

/** No key is shorter. In characters. */
export const LONG = 16;

const WORD = new Set('ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.+/=~-');
const ASCII = 128;
const IS_WORD = Uint8Array.from({ length: ASCII }, (_, code) => Number(WORD.has(String.fromCharCode(code))));
/** Patterns that ignore case take these for s and k. */
const LONG_S = 0x17f;
const KELVIN = 0x212a;

const isWord = (code: number): boolean => (code < ASCII ? IS_WORD[code] === 1 : code === LONG_S || code === KELVIN);

/** The parts of a text that hold its long words, each with so many characters before it, and the one behind it. */
export function aroundLongWords(text: string, before: number): readonly Part[] {
  const parts: Part[] = [];
  let last = { start: 0, end: 0 };
  let from = 0;
  // A word reaches over the last of so many characters or begins behind it: most of the others are never looked at.
  for (let at = LONG - 1; at < text.length; at = from + LONG - 1) {
    const start = beginOfWord(text, at, from);
    from = start > at ? start : endOfWord(text, at + 1);
    if (from - start < LONG) continue;
    if (parts.length > 0 && start - before <= last.end) last.end = from + 1;
    else {
      last = { start: Math.max(0, start - before), end: from + 1 };
      parts.push(last);
    }
  }
  return parts;
}

/** Where the word begins that reaches up to there, or what comes behind. Nothing before `from` belongs to one. */
function beginOfWord(text: string, at: number, from: number): number {
  let start = at + 1;
  while (start > from && isWord(text.charCodeAt(start - 1))) start -= 1;
  return start;
}

function endOfWord(text: string, at: number): number {
  let end = at;
  while (end < text.length && isWord(text.charCodeAt(end))) end += 1;
  return end;
}
