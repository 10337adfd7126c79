import type { Sliced } from '../ports/tools.ts';

export type SecretKind = 'private key' | 'API key' | 'JWT' | 'card number' | 'password' | 'PIN';

/** Where in a text a secret stands. */
type Secret = Place<SecretKind>;

interface Masked {
  readonly text: string;
  /** One entry per secret that was found, in order. */
  readonly kinds: readonly SecretKind[];
}

/** What stands in the place of a secret. Nothing that is stored of a conversation's meaning holds more of it. */
export const maskOf = (kind: SecretKind): string => `[secret: ${kind}]`;

/** A text with every secret in it masked. Masking twice changes nothing more; takes linear time on any text. */
export function maskSecrets(text: string): Masked {
  const kinds: SecretKind[] = [];
  if (!isMasked(text)) return { text: masked(text, kinds), kinds };
  // What was masked before is left alone: the words of a mask are no hint at another secret.
  const parts = text.split(MASKS).map((part, i) => (i % 2 === 1 ? part : masked(part, kinds)));
  return { text: parts.join(''), kinds };
}

/** Two characters are looked for several times as fast as nine. */
export const isMasked = (text: string): boolean => text.includes('[s') && text.includes(MASK_BEGIN);

function masked(text: string, kinds: SecretKind[]): string {
  const secrets = secretsIn(text);
  if (secrets.length === 0) return text;
  const { text: done, found } = replaced(text, secrets, maskOf);
  kinds.push(...found);
  return done;
}

const secretsIn = (text: string): readonly Secret[] => [...keysIn(text), ...cardNumbersIn(text), ...passwordsIn(text)];

/** The kind of secret a text gives away, or once gave away before it was masked; null where it has none. */
export function secretIn(text: string): SecretKind | null {
  return maskSecrets(text).kinds[0] ?? (MASK.exec(text)?.[1] as SecretKind | undefined) ?? null;
}

/** So many texts are looked through together. */
const TOGETHER = 64;
/** Part of no secret, and of no hint at one. */
const BETWEEN = '|';

/**
 * Those of many texts that may hold a secret, or the mask of one: the others need not be looked through. What secrets have
 * something of is sought in many texts at a time, which takes hardly longer than in one of them.
 */
export function* suspectsAmong(texts: readonly string[]): Sliced<ReadonlySet<string>> {
  const suspects = new Set<string>();
  for (let from = 0; from < texts.length; from += TOGETHER) {
    yield;
    const some = texts.slice(from, from + TOGETHER);
    const together = some.join(BETWEEN);
    if (isSuspect(together)) for (const text of some) suspects.add(text);
    else if (hasLongWord(together)) for (const text of some) if (hasLongWord(text)) suspects.add(text);
  }
  return suspects;
}

/** Whether something stands there that all secrets have, but for keys that are one long word. */
const isSuspect = (text: string): boolean =>
  isMasked(text) ||
  OTHER_KEYS.some((form) => mayHold(text, form)) ||
  hasEnoughDigits(text) ||
  UNSPACED.test(text) ||
  HINTS.some((hint) => hint.test(text));

const mayHold = (text: string, { needs }: RareForm): boolean => needs.every((part) => text.includes(part));

const MASK_BEGIN = '[secret: ';
const MASK = /\[secret: (private key|API key|JWT|card number|password|PIN)\]/u;
/** The same, for splitting: pieces and masks in turn. */
const MASKS = /(\[secret: (?:private key|API key|JWT|card number|password|PIN)\])/u;

function keysIn(text: string): Secret[] {
  const called = aroundLongWords(text, CALLED_BEFORE).flatMap(({ start, end }) =>
    LONG_KEYS.flatMap((form) => foundBy(form, text.slice(start, end), start)),
  );
  const possible = OTHER_KEYS.filter((form) => mayHold(text, form));
  return [...called, ...possible.flatMap((form) => foundBy(form, text, 0))];
}

/** Where a form is found in a part of a text that begins at `offset`. */
const foundBy = ({ kind, form }: KeyForm, part: string, offset: number): Secret[] =>
  [...part.matchAll(form)].map((match) => {
    const value = match.groups?.value ?? match[0];
    const start = offset + match.index + match[0].lastIndexOf(value);
    return { kind, start, end: start + value.length };
  });

/** Passwords and PINs that are named as such: "my password is …", "PIN: …", "密码是…". */
function passwordsIn(text: string): Secret[] {
  const named = HINTS.some((hint) => hint.test(text));
  return [
    ...(named
      ? [...text.matchAll(NAMED_AS_SUCH), ...text.matchAll(CHANGED_TO)].flatMap((match) => namedPassword(match))
      : []),
    ...(UNSPACED.test(text)
      ? [...text.matchAll(NAMED_AS_SUCH_UNSPACED)].map((match) => secretOf('password', match))
      : []),
    ...(named ? [...text.matchAll(PIN)].map((match) => secretOf('PIN', match)) : []),
  ];
}

const USUAL_WORDS = 'pass(?:word|code|phrase|wd)s?|pwd';
const OTHER_WORDS = 'login code|passwort|kennwort|contraseña|mot de passe|senha|пароль|wachtwoord|hasło|lösenord';
const WORDS = `${USUAL_WORDS}|${OTHER_WORDS}`;
/** What is about passwords, not one. */
const COMPOUNDS = 'manager|polic(?:y|ies)|generator|protect\\w*|reset|hint|prompt|hygiene|field|app|length|rules?';
const CHANGED = '(?:chang(?:ed|ing|e)|reset(?:ting)?|set(?:ting)?|updat(?:ed|ing|e)|switch(?:ed|ing)?)';
const VERBS = `(?:(?:is|was|are|es|est|ist|é|это)(?: now| still)?(?: ${CHANGED} to)?|${CHANGED} to)`;

/** One of these where no word goes on. They are sought first: to see whether a letter stands before takes longer. */
const beginning = (words: string): string => `(?=${words})(?<![\\p{L}\\p{N}])(?:${words})`;

const KEYWORD = `${beginning(WORDS)}(?![\\p{L}\\p{N}])(?!\\s+(?:${COMPOUNDS})(?![\\p{L}\\p{N}]))\\\\?["'\`]?`;
const GAP = '[^.,;!?\\n"，。；]{0,40}?';
/** The value ends with white space, or where JSON would end it. */
const VALUE = '\\\\?["\'`“‘«]?(?<value>[^\\s"\\\\`”’»]{3,128})(?<rest>[^.,;!?\\n"\\\\]{0,80})';

const NAMED_AS_SUCH = new RegExp(
  `${KEYWORD}${GAP}(?<link>\\s{1,3}${VERBS}\\s{1,3}|\\s{0,3}(?:->|=>?|:|：)\\s{0,3})${VALUE}`,
  'giu',
);
const CHANGED_TO = new RegExp(`${beginning(CHANGED)}\\s${GAP}${KEYWORD}${GAP}(?<link>\\sto\\s{1,3})${VALUE}`, 'giu');

/** Chinese and Japanese put no spaces: a value is distinguished from the words around it by being spelt in Latin letters and digits. */
const UNSPACED_WORDS = '密码|密碼|口令|パスワード|비밀번호';
const UNSPACED = new RegExp(UNSPACED_WORDS, 'u');
const NAMED_AS_SUCH_UNSPACED = new RegExp(
  `(?:${UNSPACED_WORDS})[^。！？\\n"\\]]{0,12}?(?:是|为|為|：|:|=|は|는|은|改成|设为|設為)了?\\s{0,3}[「“']?(?<value>[!-~]{3,128}?)(?=[\\s"\\\\，。！？」”'\\u3000-\\uffff]|$)`,
  'gu',
);

const PINS = 'pin|cvv2?|cvc2?|(?:security|access|door|gate|alarm|verification|one-time|unlock) code|otp|验证码|锁屏码';
const NUMBERED =
  "(?![a-z])(?: code| number)?(?: (?:for|of|to) [\\p{L}' -]{1,30}?)?\\s{0,3}(?:is|was|:|：|=|是|为)?\\s{0,3}";
const PIN = new RegExp(`${beginning(PINS)}${NUMBERED}(?<value>\\d{3,8})(?![\\p{L}\\p{N}-])`, 'giu');

/**
 * What every password but those of NAMED_AS_SUCH_UNSPACED has, and every PIN: sought first, in most texts in vain. Few words at a
 * time are found faster than all of them.
 */
const HINTS = [
  new RegExp(`${USUAL_WORDS}|(?:pin|cvv2?|cvc2?|code|otp|验证码|锁屏码)${NUMBERED}\\d{3}`, 'iu'),
  new RegExp(OTHER_WORDS, 'iu'),
];

/** What follows "password is" when no password follows. */
const ORDINARY = new Set(
  (
    'a an the my your his her our their its this that not no too very so quite always never often now still already also ' +
    'about at by for from in on to with weak strong old new expired hard easy long short secure insecure safe unsafe ' +
    'required needed necessary wrong incorrect correct right invalid valid lost forgotten secret same different unique ' +
    'stored saved kept written hidden hashed encrypted reset changed updated managed protected unknown known being ' +
    'used reused shared working broken something anything nothing important complicated simple complex what why how ' +
    'muy lange kurz alt neu nicht sehr zu'
  ).split(' '),
);

/** After a colon anything is a password; after "is" it must not be an ordinary word, and one of letters may go on as a phrase. */
function namedPassword(match: RegExpExecArray): Secret[] {
  const { link = '', value = '', rest = '' } = match.groups ?? {};
  const bare = value.replace(/[.,;:!?)\]}>。，'*]+$/u, '');
  if (bare.length < 3) return [];
  const byVerb = /\p{L}/u.test(link);
  if (byVerb && ORDINARY.has(bare.toLowerCase())) return [];
  const start = match.index + match[0].length - rest.length - value.length;
  const isPhrase = byVerb && /^\p{L}+$/u.test(value);
  return [{ kind: 'password', start, end: start + (isPhrase ? value.length + rest.trimEnd().length : bare.length) }];
}

function secretOf(kind: SecretKind, match: RegExpExecArray): Secret {
  const value = match.groups?.value ?? match[0];
  const end = match.index + match[0].length;
  return { kind, start: end - value.length, end };
}

/** Something found in a text. */
export interface Place<K extends string> {
  readonly kind: K;
  readonly start: number;
  readonly end: number;
}

/** The text with another in place of each; of two that overlap the one that begins first counts, of those the longer. */
export function replaced<K extends string>(
  text: string,
  places: readonly Place<K>[],
  by: (kind: K) => string,
): { readonly text: string; readonly found: readonly K[] } {
  const found: K[] = [];
  let done = '';
  let from = 0;
  for (const { kind, start, end } of places.toSorted((a, b) => a.start - b.start || b.end - a.end)) {
    if (start < from) continue;
    done += text.slice(from, start) + by(kind);
    from = end;
    found.push(kind);
  }
  return { text: done + text.slice(from), found };
}

interface KeyForm {
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
const CALLED_BEFORE = 32;

/**
 * Keys that are one long word, whatever it is called: sought around such words only, which few texts have. Each form can
 * begin only where no longer word goes on, so that no text is read more than once per form.
 */
const LONG_KEYS: readonly KeyForm[] = [
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
const OTHER_KEYS: readonly RareForm[] = [
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

/** Whether a text has a word that is as long as a key. */
const hasLongWord = (text: string): boolean => aroundLongWords(text, 0).length > 0;

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
