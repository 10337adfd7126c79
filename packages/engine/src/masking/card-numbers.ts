import type { Secret } from './secrets.ts';

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
export function hasEnoughDigits(text: string): boolean {
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
