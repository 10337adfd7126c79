import type { Json } from '../../words.ts';

/** Deeper values are left to the reader by hand, which knows what to do with them. */
const DEPTH_MAX = 60;
const QUOTE = 0x22;
const COMMA = 0x2c;
const BACKSLASH = 0x5c;
/** Brackets and braces differ by one bit. */
const OPENS = 0x7b;
const CLOSES = 0x7d;

/**
 * What readLoose makes of a value that is JSON as far as it goes, many times as fast: all up to the last whole item is
 * parsed, and only what comes behind is read by hand. null where that cannot be done: then all of it is read by hand.
 */
export function readSound(source: string, start: number): Loose | null {
  const likely = likelySound(source, start);
  const read = likely === null ? null : readAround(source, start, likely);
  return read ?? readAround(source, start, soundIn(source, start));
}

function readAround(source: string, start: number, { path, from }: Sound): Loose | null {
  const sound = source.slice(start, from);
  if (path === '') return looseOf(parsed(sound), { end: from, complete: true });
  const last = path.slice(-1);
  const tail = readLoose(last + source.slice(from), 0);
  if (tail.complete || tail.value === undefined) return null;
  const items = written(tail.value);
  if (items === null) return null;
  const ends = [...path].reverse().map((bracket) => (bracket === '{' ? '}' : ']'));
  const said = items === '' && sound.endsWith(',') ? sound.slice(0, -1) : sound + items;
  const value = parsed(said + ends.join(''));
  return looseOf(value, { end: from + tail.end - last.length, complete: false });
}

const looseOf = (value: Json | undefined, read: Pick<Loose, 'end' | 'complete'>): Loose | null =>
  value === undefined ? null : { value, ...read };

interface Sound {
  /** The brackets that are open behind it: objects, and at most one list, which is the last. */
  readonly path: string;
  /** Where it ends: behind the last comma or bracket of the last of these, or behind the whole value. */
  readonly from: number;
}

/**
 * How far whole items most likely go: in a list, alone or under the first key, up to the last comma behind one like its
 * first. Found without looking at what stands between, which shows when it is parsed.
 */
function likelySound(source: string, start: number): Sound | null {
  LIST_BEGIN.lastIndex = start;
  const begin = LIST_BEGIN.exec(source);
  if (begin === null) return null;
  const [, object = '', first = ''] = begin;
  const end = source.lastIndexOf(first === '{' ? '},' : '",');
  return end <= begin.index + begin[0].length ? null : { path: object === '' ? '[' : '{[', from: end + 2 };
}

const LIST_BEGIN = /\s*(\{\s*"[^"\\]*"\s*:\s*)?\[\s*([{"])/uy;

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

/** undefined: it is no JSON as it stands. */
export function parsed(text: string): Json | undefined {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return undefined;
  }
}

/** A JSON value as far as it could be read. */
export interface Loose {
  /** undefined: no value stands there. */
  readonly value: Json | undefined;
  /** Where reading stopped. */
  readonly end: number;
  /** Every bracket and string was closed. */
  readonly complete: boolean;
}

/**
 * Reads one JSON value at `start` the way models write it: trailing commas, single quotes, bare keys, Python
 * literals, raw line breaks in strings, comments. Where the text breaks off, complete items are kept and the broken one
 * is dropped.
 */
export function readLoose(source: string, start: number): Loose {
  const reader = new Reader(source, start);
  const value = reader.value(0);
  return { value, end: reader.at, complete: reader.complete };
}

/** Deeper nesting than any answer needs; a guard against hostile input. */
const NESTING_MAX = 64;
const LITERALS: Readonly<Record<string, Json>> = {
  true: true,
  false: false,
  null: null,
  True: true,
  False: false,
  None: null,
  undefined: null,
  NaN: null,
};
const ESCAPES: Readonly<Record<string, string>> = { n: '\n', t: '\t', r: '\r', b: '\b', f: '\f' };

const UP_TO_QUOTE = /[^"\\]+/uy;
const UP_TO_APOSTROPHE = /[^'\\]+/uy;
const NUMBER = /-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/uy;
const WORD = /[A-Za-z]+/uy;
const BARE_KEY = /[\p{L}_$][\p{L}\p{N}_$-]*/uy;
/** Where one of these stands there is nothing to pass over. */
const NOT_BLANK = /[\w"'{}[\]:-]/u;
const BLANK = /(?:\s|\/\*.*?\*\/|\/\/[^\n]*)*/suy;
const BLANK_OR_COMMA = /(?:[\s,]|\/\*.*?\*\/|\/\/[^\n]*)*/suy;

/** `undefined` from a method means: no complete value here. */
class Reader {
  at: number;
  complete = true;
  readonly #source: string;

  constructor(source: string, start: number) {
    this.#source = source;
    this.at = start;
  }

  value(depth: number): Json | undefined {
    this.#skip();
    const char = this.#source[this.at];
    if (char === undefined || depth > NESTING_MAX) return this.#broken();
    if (char === '{') return this.#object(depth);
    if (char === '[') return this.#array(depth);
    if (char === '"' || char === "'") return this.#string(char);
    return this.#scalar();
  }

  #object(depth: number): Json | undefined {
    const entries: [string, Json][] = [];
    this.at += 1;
    while (!this.#closes('}')) {
      if (!this.complete) return objectOf(entries);
      const key = this.#key();
      const value = key === undefined ? undefined : this.value(depth + 1);
      if (key !== undefined && value !== undefined) entries.push([key, value]);
      else if (this.complete) return undefined;
    }
    return objectOf(entries);
  }

  #array(depth: number): Json | undefined {
    const items: Json[] = [];
    this.at += 1;
    while (!this.#closes(']')) {
      if (!this.complete) return items;
      const item = this.value(depth + 1);
      // A broken element is dropped whole: half a fact is not a fact.
      if (!this.complete) return items;
      if (item === undefined) return undefined;
      items.push(item);
    }
    return items;
  }

  /** Passes over separators, and over the closing bracket if it stands there. At the end of the text: broken off. */
  #closes(bracket: string): boolean {
    if (!this.complete) return false;
    this.#skip(',');
    const char = this.#source[this.at];
    if (char === undefined) this.complete = false;
    if (char === bracket) this.at += 1;
    return char === bracket;
  }

  #key(): string | undefined {
    const char = this.#source[this.at];
    const key = char === '"' || char === "'" ? this.#string(char) : this.#match(BARE_KEY);
    if (typeof key !== 'string') return undefined;
    this.#skip();
    if (this.at >= this.#source.length) return this.#broken();
    if (this.#source[this.at] !== ':') return undefined;
    this.at += 1;
    return key;
  }

  #string(quote: string): string | undefined {
    let text = '';
    this.at += 1;
    for (;;) {
      text += this.#match(quote === '"' ? UP_TO_QUOTE : UP_TO_APOSTROPHE) ?? '';
      const char = this.#source[this.at];
      if (char === undefined) return this.#broken();
      if (char === '\\') text += this.#escape();
      this.at += 1;
      if (char === quote) return text;
    }
  }

  /** At a backslash; leaves `at` on the escape's last character. */
  #escape(): string {
    this.at += 1;
    const char = this.#source[this.at] ?? '';
    if (char !== 'u') return ESCAPES[char] ?? char;
    const hex = this.#source.slice(this.at + 1, this.at + 5);
    if (!/^[0-9a-f]{4}$/iu.test(hex)) return char;
    this.at += 4;
    return String.fromCharCode(Number.parseInt(hex, 16));
  }

  #scalar(): Json | undefined {
    const number = this.#match(NUMBER);
    if (number !== undefined) return Number(number);
    const word = this.#match(WORD);
    if (word === undefined) return undefined;
    if (Object.hasOwn(LITERALS, word)) return LITERALS[word] ?? null;
    return this.at >= this.#source.length ? this.#broken() : undefined;
  }

  #match(pattern: RegExp): string | undefined {
    pattern.lastIndex = this.at;
    const found = pattern.exec(this.#source)?.[0];
    if (found !== undefined) this.at += found.length;
    return found;
  }

  /** White space and comments, and separators that stand alone or twice. */
  #skip(separator = ''): void {
    if (NOT_BLANK.test(this.#source[this.at] ?? '')) return;
    this.#match(separator === '' ? BLANK : BLANK_OR_COMMA);
  }

  #broken(): undefined {
    this.complete = false;
    return undefined;
  }
}

/** Also a key like __proto__ becomes a field of its own, as it does where JSON is parsed. */
const objectOf = (entries: readonly [string, Json][]): Json => Object.fromEntries(entries);
