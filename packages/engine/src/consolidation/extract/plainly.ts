import { mayBeCalled } from '../../text/naming.ts';
import { isCalendarWord, isNumberWord } from '../../text/quantities.ts';
import { weightOf } from '../../text/support.ts';
import { mayAsk } from './own-wish.ts';

/** Nearly every fact is shorter. In characters. */
const SENTENCE_MAX = 300;
/** So many words of a longer one are looked up, from all parts of it. */
const LOOKED_UP = 16;

/**
 * Whether a fact in plain words was said without a doubt: each name and number of it stands there letter by letter, and so does
 * at least half of what else it says. That is true of nearly all, and to find it out takes a fraction of what comparing words does.
 */
export function standsPlainly(text: string, said: readonly PlainText[]): boolean {
  if (!text.startsWith('User ') && !text.startsWith("User's ")) return false;
  const found = text.length > SENTENCE_MAX ? foundInPage(text, said) : foundInSentence(text, said);
  return found > 0;
}

/** How much of it was said; less than nothing where more of it was not, or where that has to be worked out. */
function foundInSentence(text: string, said: readonly PlainText[]): number {
  const reader = new Reader(text, 'User'.length);
  let found = 0;
  let missed = 0;
  while (reader.next()) {
    if (reader.kinds !== SMALL && !isMarkSaid(reader, said)) return UNCLEAR;
    if (reader.saysNothing) continue;
    const weight = saidWeight(said, reader.number);
    const isMissed = weight === UNSAID;
    const counted = isMissed ? weighed(reader) : weight;
    if (counted < 0) return UNCLEAR;
    if (isMissed) missed += counted;
    else found += counted;
  }
  return enough(found, missed);
}

/** The same of a text of which not every word is looked up. */
function foundInPage(text: string, said: readonly PlainText[]): number {
  if (!hasMarks(text, said)) return UNCLEAR;
  const reader = new Reader(text, 0);
  let found = 0;
  let missed = 0;
  for (let i = 1; i <= LOOKED_UP; i += 1) {
    reader.skipTo(Math.floor((i * text.length) / (LOOKED_UP + 1)));
    if (!reader.next() || reader.saysNothing) continue;
    const weight = saidWeight(said, reader.number);
    if (weight === UNSAID) missed += Math.max(0, weighed(reader));
    else found += Math.max(0, weight);
  }
  return enough(found, missed);
}

const enough = (found: number, missed: number): number => (found >= missed ? found : UNCLEAR);

/** Of numbers and names of days, which have to be worked out. */
const UNCLEAR = -1;
const UNSAID = -2;
/** Of words with which users ask to have something forgotten. */
const ASKING = -3;

/** Whether a name or number was said. What has letters of other alphabets has to be compared. */
function isMarkSaid(reader: Reader, said: readonly PlainText[]): boolean {
  if ((reader.kinds & FOREIGN) !== 0) return false;
  const { word } = reader;
  const isSaid = said.some(({ marks }) => marks.has(word));
  return isSaid && (reader.kinds === DIGIT || !mayBeCalled(reader.text, reader.from));
}

/** How much a word counts that one of them has. */
function saidWeight(said: readonly PlainText[], number: number): number {
  for (let i = 0; i < said.length; i += 1) {
    const weight = said[i]?.weightOf(number) ?? UNSAID;
    if (weight !== UNSAID) return weight;
  }
  return UNSAID;
}

/** What signs are: letters and digits make words. */
const SMALL = 1;
const CAPITAL = 2;
const DIGIT = 4;
const FOREIGN = 8;
const FOREIGN_FIRST = 0x80;
const KINDS = Uint8Array.from({ length: FOREIGN_FIRST }, (_, code) => {
  const sign = String.fromCharCode(code);
  return /[a-z]/.test(sign) ? SMALL : /[A-Z]/.test(sign) ? CAPITAL : /\d/.test(sign) ? DIGIT : 0;
});
const kindOf = (code: number): number => (code < FOREIGN_FIRST ? (KINDS[code] ?? 0) : FOREIGN);

const FNV_BEGIN = 0x811c9dc5;
const FNV_PRIME = 0x01000193;
/** What makes small letters of capitals. */
const CASE = 0x20;

/** Goes from word to word of a text, sign by sign. */
class Reader {
  readonly text: string;
  from = 0;
  end: number;
  /** Of all signs of the word. */
  kinds = 0;
  /** Made of the letters of the word, be they small or not: looked up many times as fast as the word, which would have to be cut out. */
  number = 0;

  constructor(text: string, at: number) {
    this.text = text;
    this.end = at;
  }

  next(): boolean {
    const { text } = this;
    let at = this.end;
    while (at < text.length && kindOf(text.charCodeAt(at)) === 0) at += 1;
    this.from = at;
    let kinds = 0;
    let hash = FNV_BEGIN;
    for (; at < text.length; at += 1) {
      const code = text.charCodeAt(at);
      const kind = kindOf(code);
      if (kind === 0) break;
      kinds |= kind;
      hash = Math.imul(hash ^ (code | CASE), FNV_PRIME);
    }
    this.end = at;
    this.kinds = kinds;
    this.number = hash >>> 2; // small enough to be kept as it is
    return at > this.from;
  }

  /** Goes on with the first word that begins behind a place. */
  skipTo(at: number): void {
    const { text } = this;
    this.end = at;
    while (this.end < text.length && kindOf(text.charCodeAt(this.end)) !== 0) this.end += 1;
  }

  /** Reads the word that a place is in. */
  backTo(at: number): void {
    this.end = at;
    while (this.end > 0 && kindOf(this.text.charCodeAt(this.end - 1)) !== 0) this.end -= 1;
    this.next();
  }

  get word(): string {
    return this.text.slice(this.from, this.end);
  }

  /** It is a number, or the rest of a word behind an apostrophe: user's, don't. */
  get saysNothing(): boolean {
    const isShort = this.end - this.from <= 2;
    return this.kinds === DIGIT || (isShort && this.text.charCodeAt(this.from - 1) === APOSTROPHE);
  }
}

const APOSTROPHE = 0x27;

/** What a message says, as facts in plain words are held against it. It is read no further than a word that is looked for. */
export class PlainText {
  /** The words that have a capital or a digit in them, as they are written. */
  readonly marks: ReadonlySet<string>;
  /** As far as it was read, a word stands in it with which users ask to have something forgotten: before what they want forgotten. */
  mayAsk = false;
  readonly #reader: Reader;
  /** How much each word counts, as far as it was read, by their numbers. */
  readonly #weights = new Map<number, number>();

  constructor(text: string) {
    this.marks = markedIn(text);
    this.#reader = new Reader(text, 0);
  }

  weightOf(number: number): number {
    return this.#weights.get(number) ?? this.#readTo(number);
  }

  #readTo(number: number): number {
    const reader = this.#reader;
    while (reader.next()) {
      const weight = weighed(reader);
      if (weight === ASKING) this.mayAsk = true;
      this.#weights.set(reader.number, weight);
      if (reader.number === number) return weight;
    }
    return UNSAID;
  }
}

/** People use the same few thousand words: how much each counts is worked out once. */
const KNOWN_MAX = 16_000;
const known = new Map<number, number>();

/** How much a word counts. */
const weighed = (reader: Reader): number => known.get(reader.number) ?? learn(reader);

function learn({ word, number }: Reader): number {
  if (known.size === KNOWN_MAX) known.clear();
  const lower = word.toLowerCase();
  const isUnclear = isNumberWord(lower) || isCalendarWord(lower);
  // Twice over, to be whole.
  const weight = mayAsk(lower) ? ASKING : isUnclear ? UNCLEAR : weightOf(lower) * 2;
  known.set(number, weight);
  return weight;
}

/** What no name and no number has in it, read many times as fast as anything that looks for what they have. */
const UNMARKED = /[^A-Z0-9\x7f-\uffff]*/y;

/** Whether each name and number of a long text was said. */
function hasMarks(text: string, said: readonly PlainText[]): boolean {
  const reader = new Reader(text, 0);
  for (let at = nextMark(text, 'User'.length); at < text.length; at = nextMark(text, reader.end)) {
    reader.backTo(at);
    if (!isMarkSaid(reader, said)) return false;
  }
  return true;
}

function markedIn(text: string): ReadonlySet<string> {
  const marks = new Set<string>();
  const reader = new Reader(text, 0);
  for (let at = nextMark(text, 0); at < text.length; at = nextMark(text, reader.end)) {
    reader.backTo(at);
    marks.add(reader.word);
  }
  return marks;
}

/** Where the next capital, digit or letter of another alphabet stands, or the end. */
function nextMark(text: string, from: number): number {
  UNMARKED.lastIndex = from;
  UNMARKED.test(text);
  return UNMARKED.lastIndex;
}
