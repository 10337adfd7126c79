import type { Sliced } from '../ports/tools.ts';
import {
  BEGIN,
  type Claims,
  casedShare,
  claimsOf,
  heldAgainst,
  joinedWords,
  plainOf,
  type Words,
  wordsIn,
} from './claims.ts';
import { cut } from './normalise.ts';
import { hasNumber } from './quantities.ts';
import { termSet } from './terms.ts';
import { phrasesIn, thingsOf } from './wording.ts';

/** What is looked for of a text. */
type Particulars = Pick<Claims, 'words' | 'slight' | 'runs'> & { readonly quantities: Claims['quantities'] };

/**
 * How much of what a text says in particular stands in others, 0…1: as often as it says it, because who repeats himself says no
 * more. Another word for the same thing will do. Where it says nothing in particular: 0.
 */
export function shareOf(claims: Particulars, said: readonly Words[]): number {
  let [all, found] = [0, 0];
  const count = (weight: number, support: number): void => {
    all += weight;
    found += weight * support;
  };
  for (const word of claims.words) count(claims.slight.has(word) ? SLIGHTLY : 1, supportOf(word, said));
  for (const isFound of quantitiesFound(claims.quantities, said)) count(SLIGHTLY, isFound ? 1 : 0);
  for (const run of claims.runs) for (const isFound of signsFound(run, said)) count(SIGN, isFound ? 1 : 0);
  return all === 0 ? 0 : found / all;
}

/** What many speak of at any time, and numbers, which any count can give, say half as much of where a text came from. */
const SLIGHTLY = 0.5;
/** Two signs are a word. */
const SIGN = 0.5;

/** Which numbers were said. A date counts only where it was: one that follows from when something was said is no word of it. */
function quantitiesFound(
  { numbers, dates, weekdays }: Claims['quantities'],
  said: readonly Words[],
): readonly boolean[] {
  const has = (isSaid: (quantities: Words['quantities']) => boolean): boolean =>
    said.some(({ quantities }) => isSaid(quantities));
  const years = dates.flatMap(({ year }) => (year !== null && has((one) => one.numbers.has(year)) ? [true] : []));
  const days = weekdays.flatMap((day) => (has((one) => one.weekdays.has(day)) ? [true] : []));
  return [...numbers.map((number) => has((one) => hasNumber(one.numbers, number))), ...years, ...days];
}

/** How much a word of an English text counts by itself; one that any fact has: not at all. */
export function weightOf(word: string): number {
  const { words, slight, isBare } = claimsOf(word);
  if (words.length === 0 || isBare) return 0;
  return slight.size > 0 ? SLIGHTLY : 1;
}

/** Another word for the same thing may also be one for another. */
const AKIN = 0.75;

function supportOf(word: string, said: readonly Words[]): number {
  if (said.some((one) => hasWord(one, word))) return 1;
  const things = thingsOf(word);
  return things.some((thing) => said.some((one) => one.things.has(thing))) ? AKIN : 0;
}

export const hasWord = ({ terms, words, begins }: Words, word: string): boolean =>
  terms.has(word) || words.has(word) || (word.length >= BEGIN && begins.has(word.slice(0, BEGIN)));

/** Which signs of a run were said, with one beside them where there are two. */
function signsFound(run: string, said: readonly Words[]): readonly boolean[] {
  const signs = [...run.toLowerCase()];
  const stands = (part: string): boolean => said.some(({ plain }) => plain.includes(part));
  if (signs.length < 2) return signs.map(stands);
  const pairs = signs.slice(1).map((sign, i) => stands(`${signs[i]}${sign}`));
  const found = signs.map((_, i) => pairs[i] === true || pairs[i - 1] === true);
  const lower = signs.join('');
  for (const { phrase, thing } of phrasesIn(lower)) {
    if (!said.some(({ things }) => things.has(thing))) continue;
    const at = [...lower.slice(0, lower.indexOf(phrase))].length;
    found.fill(true, at, at + [...phrase].length);
  }
  return found;
}

/** What a text says of what it names. */
export function besideNames(claims: Claims): Particulars {
  const names = termSet(claims.names.join(' '));
  const words = claims.words.filter((word) => !names.has(word));
  return words.length === 0 ? claims : { ...claims, words };
}

/** Who merges two texts says some things in words of neither: what ended, what is left, what became of it. */
const MERGED = 0.5;

/**
 * Whether a text says what others say, but for how it says so: each name, number and date, and more than half of its other words.
 * A number that follows from counting what they say counts as said.
 */
export function isMadeOf(text: string, others: readonly string[], saidAt: number): boolean {
  const claims = claimsOf(text);
  const said = [joinedWords(others.map(wordsIn))] as const;
  const { hasNames, hasNumbers, hasDates } = heldAgainst(said[0], [saidAt]);
  const isListed = (number: number): boolean => number <= claims.names.length;
  const numbers = claims.quantities.numbers.filter(({ whole }) => !isListed(whole) && !isCounted(whole, said));
  const counted = { ...claims, quantities: { ...claims.quantities, numbers } };
  if (!hasNames(claims) || !hasNumbers(counted) || !hasDates(claims)) return false;
  const isBare = claims.words.length + claims.runs.length === 0;
  return isBare || shareOf({ ...claims, quantities: { numbers: [], dates: [], weekdays: [] } }, said) > MERGED;
}

/** Whether each word that a text says in particular stands in another one, or another word for the same thing. */
export function isWhollyIn(text: string, other: string): boolean {
  const { words, runs } = claimsOf(text);
  const said = [wordsIn(other)];
  return words.every((word) => supportOf(word, said) > 0) && runs.every((run) => signsFound(run, said).every(Boolean));
}

/** Nobody counts further without being told a number. */
const COUNTED_MAX = 12;

/** Whether a small number comes of two that were said, or of one and another one: two children and a third, one cat less. */
function isCounted(number: number, said: readonly Words[]): boolean {
  if (number > COUNTED_MAX) return false;
  const small = [1, ...said.flatMap(({ quantities }) => [...quantities.numbers])].filter((one) => one <= COUNTED_MAX);
  const known = new Set(small);
  return small.some((one) => known.has(number - one) || known.has(number + one));
}

/** In characters: some milliseconds, also where no word is said twice. */
const PIECE = 4_000;
/** Of a piece, at its end: where a sentence or at least a word ends in there, it is cut. */
const ENDING = 500;

/** What a text says that may be long, piece by piece: what wordsIn makes of it, but for what reads on from one piece to the next. */
export function* wordsInPieces(text: string): Sliced<Words> {
  if (text.length <= PIECE) return wordsIn(text);
  const plain: string[] = [];
  const [words, terms, begins] = [new Set<string>(), new Set<string>(), new Set<string>()];
  const things = new Set<number>();
  const quantities = { numbers: new Set<number>(), months: new Set<number>(), weekdays: new Set<number>() };
  for (let at = 0; at < text.length; ) {
    const end = endOfPiece(text, at);
    const piece = wordsIn(text.slice(at, end));
    plain.push(piece.plain.trim(), isWithinWord(text, end) ? '' : ' ');
    addAll(words, piece.words);
    addAll(terms, piece.terms);
    addAll(begins, piece.begins);
    addAll(things, piece.things);
    addAll(quantities.numbers, piece.quantities.numbers);
    addAll(quantities.months, piece.quantities.months);
    addAll(quantities.weekdays, piece.quantities.weekdays);
    at = end;
    yield;
  }
  const isCased = casedShare(text) >= 0.5;
  return { plain: ` ${plain.join('').trim()} `, words, terms, begins, things, quantities, isCased };
}

function endOfPiece(text: string, at: number): number {
  if (text.length - at <= PIECE) return text.length;
  const from = at + PIECE - ENDING;
  const ending = text.slice(from, at + PIECE);
  const ends = [ending.search(/(?<=[.!?。！？]\s|\n)[^\n]*$/u), ending.search(/(?<=\s)\S*$/u)];
  const end = ends.find((one) => one > 0);
  return end === undefined ? at + cut(text.slice(at, at + PIECE), PIECE).length : from + end;
}

/** Whether a text that is cut here goes on in the same word, or the same run of a script without spaces. */
const isWithinWord = (text: string, end: number): boolean =>
  /^\S{2}$/u.test(plainOf(text.slice(end - 1, end + 1)).trim());

function addAll<Item>(to: Set<Item>, items: Iterable<Item>): void {
  for (const item of items) to.add(item);
}
