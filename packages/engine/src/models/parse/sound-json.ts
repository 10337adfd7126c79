import type { Json } from '../../words.ts';
import { type Loose, readLoose } from './loose-json.ts';

/** Deeper values are left to the reader by hand, which knows what to do with them. */
const DEPTH_MAX = 60;
const QUOTE = 0x22;
const COMMA = 0x2c;
const BACKSLASH = 0x5c;
/** Brackets and braces differ by one bit. */
const OPENS = 0x7b;
const CLOSES = 0x7d;
/** Keys that the reader by hand leaves out, as they are or with letters as escapes. */
const CAREFUL = ['__proto__"', 'constructor"', 'prototype"'];
const ESCAPED_LETTER = /\\u00[5-7]/iu;

const needsCare = (json: string): boolean =>
  CAREFUL.some((key) => json.includes(key)) || (json.includes('\\u00') && ESCAPED_LETTER.test(json));

/**
 * What readLoose makes of a value that is JSON as far as it goes, many times as fast: all up to the last whole item is
 * parsed, and only what comes behind is read by hand. null where that cannot be done: then all of it is read by hand.
 */
export function readSound(source: string, start: number): Loose | null {
  const { path, from } = soundIn(source, start);
  const sound = source.slice(start, from);
  if (needsCare(sound)) return null;
  if (path === '') return wholeOf(parsed(sound), from);
  const last = path.slice(-1);
  const tail = readLoose(last + source.slice(from), 0);
  if (tail.complete || tail.value === undefined) return null;
  const items = written(tail.value);
  if (items === null) return null;
  const ends = [...path].reverse().map((bracket) => (bracket === '{' ? '}' : ']'));
  const value = parsed((items === '' ? sound.replace(/,$/u, '') : sound + items) + ends.join(''));
  return value === undefined ? null : { value, end: from + tail.end - last.length, complete: false };
}

const wholeOf = (value: Json | undefined, end: number): Loose | null =>
  value === undefined ? null : { value, end, complete: true };

interface Sound {
  /** The brackets that are open behind it: objects, and at most one list, which is the last. */
  readonly path: string;
  /** Where it ends: behind the last comma or bracket of the last of these, or behind the whole value. */
  readonly from: number;
}

/** How far whole items go, in the outermost list that is open at the end, or in the innermost object. */
function soundIn(source: string, start: number): Sound {
  const opened: number[] = [];
  const behind: number[] = [];
  for (let at = start; at < source.length && opened.length <= DEPTH_MAX; at += 1) {
    const code = source.charCodeAt(at);
    if (code === QUOTE) at = endOfText(source, at);
    else if (code === COMMA) behind[opened.length - 1] = at + 1;
    else if ((code | 0x20) === OPENS) {
      opened.push(at);
      behind[opened.length - 1] = at + 1;
    } else if ((code | 0x20) === CLOSES) {
      opened.pop();
      if (opened.length === 0) return { path: '', from: at + 1 };
    }
  }
  const brackets = opened.map((at) => source[at] ?? '').join('');
  const list = brackets.indexOf('[');
  const path = list === -1 ? brackets : brackets.slice(0, list + 1);
  return { path, from: behind[path.length - 1] ?? start };
}

/** The quote that ends a text, or the end of the source. */
function endOfText(source: string, start: number): number {
  let end = source.indexOf('"', start + 1);
  while (end !== -1 && isEscaped(source, end)) end = source.indexOf('"', end + 1);
  return end === -1 ? source.length : end;
}

/** Whether an odd number of backslashes stands before it. */
function isEscaped(source: string, at: number): boolean {
  let first = at;
  while (source.charCodeAt(first - 1) === BACKSLASH) first -= 1;
  return (at - first) % 2 === 1;
}

/** What is inside of a list or an object, as JSON; null where JSON cannot say it. */
function written(value: Json): string | null {
  let isSayable = true;
  const json = JSON.stringify(value, (_key, inner: unknown) => {
    isSayable &&= typeof inner !== 'number' || Number.isFinite(inner);
    return inner;
  });
  return isSayable ? json.slice(1, -1) : null;
}

function parsed(text: string): Json | undefined {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return undefined;
  }
}
