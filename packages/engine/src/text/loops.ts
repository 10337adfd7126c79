import { plainOf, UNSPACED } from './claims.ts';

/** So many words of a passage that is said twice or more without a word between: "no, no, no" is no loop. Two signs of scripts without spaces count as a word. */
const ROUNDS_MIN = 6;
/** An ending of so many words that stood there before, in whatever order, is one, too… */
const ENDING_MIN = 8;
/** …where it is so much of the text. */
const ENDING_SHARE = 1 / 3;
/** So many words in a row are known again. */
const KNOWN_AGAIN = 3;

/**
 * The passage that a text ends with and had said before, as models do that have fallen into a loop: they end in it, because a
 * limit ends them. null where it goes on to say something.
 */
export function loopIn(text: string): string | null {
  const plain = plainOf(untilBrokenOff(text));
  const words = wordsAt(plain);
  const endingOf = (count: number): string => plain.slice(words.at(-count)?.from).trim();
  for (let length = 1; length <= words.length / 2; length += 1) {
    const repeated = repeatedBy(words, length);
    if (repeated < length) continue;
    const isLoop = weightOf(words.slice(-repeated - length)) >= ROUNDS_MIN;
    if (isLoop) return endingOf(length);
  }
  const ending = words.slice(words.length - saidBefore(words));
  const isLoop = weightOf(ending) >= ENDING_MIN && ending.length >= words.length * ENDING_SHARE;
  return isLoop ? endingOf(ending.length) : null;
}

/** In characters; other scripts say as much in fewer. */
const LOOKED_FOR = 8;
const LOOKED_FOR_FOREIGN = 4;
/** A longer round is no loop that a model falls into. */
const ROUND_MAX = 300;
const FOREIGN_FIRST = 0x80;

/** Who breaks off with dots says at most another word. In characters. */
const BROKEN_OFF_MAX = 24;

/** A text without the dots it breaks off with, and without what comes behind them. */
function untilBrokenOff(text: string): string {
  const from = Math.max(0, text.length - BROKEN_OFF_MAX);
  const at = Math.max(text.indexOf('…', from), text.indexOf('...', from));
  return at > 0 ? text.slice(0, at) : text;
}

/** Whether a text may end in a loop: found out at once, and false of nearly all. */
export function mayLoop(whole: string): boolean {
  const text = untilBrokenOff(whole);
  let end = text.length;
  while (end > 0 && !isLetterOrDigit(text.charCodeAt(end - 1))) end -= 1;
  const from = end - (text.charCodeAt(end - 1) < FOREIGN_FIRST ? LOOKED_FOR : LOOKED_FOR_FOREIGN);
  return from > 0 && text.slice(Math.max(0, from - ROUND_MAX), from).includes(text.slice(from, end));
}

const isLetterOrDigit = (code: number): boolean =>
  (code >= 0x61 && code <= 0x7a) ||
  (code >= 0x30 && code <= 0x39) ||
  (code >= 0x41 && code <= 0x5a) ||
  (code >= FOREIGN_FIRST && !FOREIGN_ENDS.has(code));

const FOREIGN_ENDS: ReadonlySet<number> = new Set([...'…。，、！？”’»'].map((sign) => sign.charCodeAt(0)));

interface PlainWord {
  readonly word: string;
  /** In the plain text. */
  readonly from: number;
  /** Half a word where it is a sign of a script without spaces. */
  readonly weight: number;
}

function wordsAt(plain: string): readonly PlainWord[] {
  return [...plain.matchAll(/\S+/gu)].flatMap(({ 0: word, index }) =>
    UNSPACED.test(word)
      ? [...word.matchAll(/./gu)].map((sign) => ({ word: sign[0], from: index + sign.index, weight: 0.5 }))
      : [{ word, from: index, weight: 1 }],
  );
}

const weightOf = (words: readonly PlainWord[]): number => words.reduce((sum, { weight }) => sum + weight, 0);

/** How many words at the end are those that stand `length` words before them. */
function repeatedBy(words: readonly PlainWord[], length: number): number {
  let at = words.length - 1;
  while (at >= length && words[at]?.word === words[at - length]?.word) at -= 1;
  return words.length - 1 - at;
}

/** How many words at the end stand before it, some in a row each. */
function saidBefore(words: readonly PlainWord[]): number {
  const rows = words.map((_, at) =>
    words
      .slice(at, at + KNOWN_AGAIN)
      .map(({ word }) => word)
      .join(' '),
  );
  const first = new Map<string, number>();
  for (const [at, row] of rows.entries()) if (!first.has(row)) first.set(row, at);
  let from = words.length;
  for (let at = words.length - KNOWN_AGAIN; at > 0; at -= 1) {
    if ((first.get(rows[at] ?? '') ?? at) >= at) break;
    from = at;
  }
  return words.length - from;
}

/** What is said so often, each time in the same words and at once, goes on for ever. */
const TIMES_MIN = 6;
/** Less of it may be meant: laughter, or a line of dashes. In characters, as the others. */
const REPEATED_CHARS_MIN = 1_200;
/** A dozen facts: the longest stretch that small models are known to repeat. */
const STRETCH_CHARS_MAX = 2_000;
/** So many characters in a row are new where anything is. */
const NEW_CHARS = 24;
/** So much of the end of a text shows whether it repeats itself. */
export const REPEATED_SHOWS_IN = TIMES_MIN * STRETCH_CHARS_MAX;

/**
 * What an answer says over and over at its end, as far as it takes to see that: it would never have come to another end; null: it
 * does not. In linear time. Those of single facts, which are shorter, are what `loopIn` finds.
 */
export function repeatedAtEnd(text: string): string | null {
  const end = text.slice(-REPEATED_SHOWS_IN);
  // Nearly every answer ends with something new, which is found out at once.
  if (
    !end
      .slice(0, -1)
      .slice(-STRETCH_CHARS_MAX - NEW_CHARS)
      .includes(end.slice(-NEW_CHARS))
  )
    return null;
  const last = end.length - 1;
  const isSame = (at: number, other: number): boolean => end.charCodeAt(last - at) === end.charCodeAt(last - other);
  // Read from its end: how much of its beginning stands once more where each of its parts ends.
  const again = new Uint16Array(end.length);
  for (let at = 1; at <= last; at += 1) {
    let same = again[at - 1] ?? 0;
    while (same > 0 && !isSame(at, same)) same = again[same - 1] ?? 0;
    if (isSame(at, same)) same += 1;
    again[at] = same;
    const length = at + 1;
    const stretch = length - same;
    // A longer part repeats nothing shorter.
    if (stretch > STRETCH_CHARS_MAX) return null;
    if (length >= REPEATED_CHARS_MIN && length >= TIMES_MIN * stretch) return end.slice(-length);
  }
  return null;
}
