import { aliasKey } from './names.ts';
import type { EntityKind } from './words.ts';

/** From here on two are taken for one. */
export const MERGE_FROM = 0.9;
/** From here on somebody is asked whether they are. */
export const PROPOSE_FROM = 0.7;

/** Worth a question, and no more. */
const ASK = 0.8;
/** Of letters that differ: of a word of so many, one more may be a slip. */
const LETTERS_PER_SLIP = 5;
const SLIPS_MAX = 2;

/**
 * How much two names of one kind look like names of the same, 0…1: what their spelling says. 1: the same but for how it
 * is dressed. Otherwise a part of the other, its initials or a slip, which is never enough to merge them by itself.
 */
export function spelledAlike(a: string, b: string, kind: EntityKind): number {
  const [left, right] = [aliasKey(a, kind), aliasKey(b, kind)];
  if (left === right) return 1;
  const [some, more] = [left.split(' '), right.split(' ')].sort((x, y) => x.length - y.length) as [string[], string[]];
  if (isPart(some, more, kind) || isInitials(some, more) || isSlip(left, right)) return ASK;
  return (NOT_ASKED * some.filter((word) => more.includes(word)).length) / more.length;
}

/** Words that two names share make them more alike, and never enough to ask. */
const NOT_ASKED = PROPOSE_FROM - 0.01;

/**
 * How likely two names of one kind are of the same, 0…1, given how near their vectors are. Vectors alone merge only what
 * no word contradicts: other scripts, another order.
 */
export function likenessOf(a: string, b: string, { kind, cosine }: { kind: EntityKind; cosine: number }): number {
  const spelled = spelledAlike(a, b, kind);
  if (spelled >= PROPOSE_FROM) return spelled;
  if (!areApart(a, b, kind)) return Math.max(spelled, cosine);
  const sameNumbers = numbersOf(wordsOf(a, kind)) === numbersOf(wordsOf(b, kind));
  return sameNumbers && cosine >= MERGE_FROM ? ASK : Math.min(spelled, cosine);
}

const wordsOf = (name: string, kind: EntityKind): string[] => aliasKey(name, kind).split(' ');

/**
 * Whether one name says something that the other one contradicts, however near their vectors are: "Team 1" and "Team 2",
 * "Ana Berg" and "Ana Holm". Names in different scripts share no words, and contradict nothing.
 */
function areApart(a: string, b: string, kind: EntityKind): boolean {
  const [left, right] = [new Set(wordsOf(a, kind)), new Set(wordsOf(b, kind))];
  const own = [...left].filter((word) => !right.has(word));
  const other = [...right].filter((word) => !left.has(word));
  if (numbersOf(own) !== numbersOf(other)) return true;
  if (scriptOf(a) !== scriptOf(b)) return false;
  return own.length > 0 && other.length > 0;
}

const numbersOf = (words: readonly string[]): string => words.filter((word) => /\d/u.test(word)).join(' ');

const SCRIPTS: readonly RegExp[] = [
  'Latin',
  'Han',
  'Cyrillic',
  'Greek',
  'Arabic',
  'Hebrew',
  'Hangul',
  'Hiragana',
  'Katakana',
  'Thai',
  'Devanagari',
].map((script) => new RegExp(`\\p{Script=${script}}`, 'u'));

/** Its place among those that are told apart; -1: none of them. */
const scriptOf = (name: string): number => SCRIPTS.findIndex((script) => script.test(name));

/** "Ana" of "Ana Silva", "Acme" of "Acme Robotics": its first or, of a person, its last words. */
function isPart(some: readonly string[], more: readonly string[], kind: EntityKind): boolean {
  if (some.length === more.length) return false;
  const [part, whole] = [some.join(' '), more.join(' ')];
  return whole.startsWith(`${part} `) || (kind === 'person' && whole.endsWith(` ${part}`));
}

/** "ibm" of "international business machines", "a silva" of "ana silva". */
function isInitials(some: readonly string[], more: readonly string[]): boolean {
  const [only = ''] = some;
  if (some.length === 1 && more.length > 1 && only.length > 1)
    return only === more.map((word) => word.charAt(0)).join('');
  if (some.length !== more.length) return false;
  return some.every(
    (word, i) => word === more[i] || isInitialOf(word, more[i] ?? '') || isInitialOf(more[i] ?? '', word),
  );
}

const isInitialOf = (letter: string, word: string): boolean => letter.length === 1 && word.startsWith(letter);

/** Short names differ by a letter because they are different ones. */
function isSlip(a: string, b: string): boolean {
  const length = Math.min(a.length, b.length);
  if (/\d/u.test(a + b) || a.charAt(0) !== b.charAt(0)) return false;
  const allowed = Math.min(SLIPS_MAX, Math.floor(length / LETTERS_PER_SLIP));
  return allowed > 0 && distance(a, b, allowed) <= allowed;
}

/** How many letters are changed, missing, added or swapped with the next; more than `most` is told as most + 1. */
function distance(a: string, b: string, most: number): number {
  if (Math.abs(a.length - b.length) > most) return most + 1;
  let [before, row]: [number[], number[]] = [[], Array.from({ length: b.length + 1 }, (_, i) => i)];
  for (let i = 1; i <= a.length; i += 1) {
    const next = [i];
    for (let j = 1; j <= b.length; j += 1) {
      const change = (row[j - 1] ?? 0) + Number(a[i - 1] !== b[j - 1]);
      const swapped = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      const swap = swapped ? (before[j - 2] ?? 0) + 1 : change;
      next.push(Math.min(change, swap, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    [before, row] = [row, next];
  }
  return Math.min(row[b.length] ?? 0, most + 1);
}
