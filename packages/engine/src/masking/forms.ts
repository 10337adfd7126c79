import type { Secret, SecretKind } from './secrets.ts';

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

/** Card numbers: as long as their issuer makes them, with a check digit that fits, in one run or in groups. */
export function cardNumbersIn(text: string): Secret[] {
  if (!hasEnoughDigits(text)) return [];
  return [...text.matchAll(DIGIT_RUNS)].flatMap((run) => cardsInRun(run[0], run.index));
}

/** Digits in groups of up to 19 with one sign between them; half-width or full-width. */
const DIGIT_RUNS = /(?<![0-9０-９a-z.])[0-9０-９]{1,19}(?:[ \u00a0\u2009–-]?[0-9０-９]{1,19})+(?![0-9０-９a-z])/giu;
const DIGITS_MIN = 14;
const DIGITS_MAX = 19;

/**
 * Every card has these; most texts do not, which is found out at one of so many characters: in a card it is a digit, or
 * one follows.
 */
function hasEnoughDigits(text: string): boolean {
  for (let at = DIGITS_MIN - 1; at < text.length; at += DIGITS_MIN) {
    if (!isDigit(text.charCodeAt(at)) && !isDigit(text.charCodeAt(at + 1))) continue;
    if (digitsFrom(text, at, 1) + digitsFrom(text, at - 1, -1) >= DIGITS_MIN) return true;
  }
  return false;
}

/** How many digits follow each other there, with one sign between them at most; more than a few are not counted. */
function digitsFrom(text: string, first: number, step: 1 | -1): number {
  let count = 0;
  for (let at = first; count < DIGITS_MIN; at += step) {
    const code = text.charCodeAt(at);
    if (isDigit(code)) count += 1;
    else if (!isSign(code) || !isDigit(text.charCodeAt(at + step))) break;
  }
  return count;
}

const isSign = (code: number): boolean =>
  code === 0x20 || code === 0x2d || code === 0xa0 || code === 0x2009 || code === 0x2013;
const isDigit = (code: number): boolean => (code <= 0x39 ? code >= 0x30 : code >= 0xff10 && code <= 0xff19);

interface Group {
  readonly digits: string;
  readonly start: number;
  readonly end: number;
}

function cardsInRun(run: string, offset: number): Secret[] {
  const groups = [...run.matchAll(/[0-9０-９]+/gu)].map(({ 0: digits, index }): Group => {
    const start = offset + index;
    return { digits: digits.normalize('NFKC'), start, end: start + digits.length };
  });
  const cards: Secret[] = [];
  for (let first = 0; first < groups.length; first += 1) {
    const last = lastGroupOfCard(groups, first);
    if (last === null) continue;
    cards.push({ kind: 'card number', start: groups[first]?.start ?? 0, end: groups[last]?.end ?? 0 });
    first = last;
  }
  return cards;
}

/** A card begins and ends with a group: an expiry date may stand right behind it. */
function lastGroupOfCard(groups: readonly Group[], first: number): number | null {
  let number = '';
  for (let last = first; last < groups.length; last += 1) {
    number += groups[last]?.digits ?? '';
    if (number.length > DIGITS_MAX) return null;
    if (number.length >= DIGITS_MIN && isCardNumber(number)) return last;
  }
  return null;
}

/** Issuers' first digits and lengths. Old Visa numbers of 13 digits are left out: telephone numbers look like them. */
const ISSUERS = [
  /^4(?:\d{15}|\d{18})$/u,
  /^(?:5[1-5]\d{14}|2(?:22[1-9]|2[3-9]\d|[3-6]\d\d|7[01]\d|720)\d{12})$/u,
  /^3[47]\d{13}$/u,
  /^6(?:011|4[4-9]\d|5\d\d|2\d\d|0\d\d|3\d\d|7\d\d|8\d\d|9\d\d)\d{12,15}$/u,
  /^35(?:2[89]|[3-8]\d)\d{12,15}$/u,
  /^3(?:0[0-5]|[68]\d)\d{11}$/u,
];

const isCardNumber = (number: string): boolean =>
  ISSUERS.some((issuer) => issuer.test(number)) && hasCheckDigit(number);

/** Luhn's check: every second digit from the right counts twice. */
function hasCheckDigit(number: string): boolean {
  const sum = [...number].reverse().reduce((total, character, i) => {
    const digit = Number(character) * (i % 2 === 0 ? 1 : 2);
    return total + (digit > 9 ? digit - 9 : digit);
  }, 0);
  return sum % 10 === 0;
}
