/** A part of a text, from `start` to before `end`. */
export interface Part {
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
