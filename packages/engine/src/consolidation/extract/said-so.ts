import { claimsOf, foldedOf, plainOf, type Words } from '../../text/claims.ts';
import { loopIn, mayLoop } from '../../text/loops.ts';
import { isCalendarWord, isNumberWord } from '../../text/quantities.ts';
import {
  hasWord,
  isGiven,
  mayBeCalled,
  mayCallUser,
  namingsIn,
  shareOf,
  type Told,
  weightOf,
} from '../../text/support.ts';
import { mayAsk } from './rules.ts';

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

/** What was said, as it is held against how a fact puts its words together. */
export interface Heard {
  /** In order. */
  readonly told: readonly Told[];
  /** What each of them says. */
  readonly words: readonly Words[];
  readonly summary: Words;
  /** Words that need no more to be names: of the summary, and who the speakers are. */
  readonly known: ReadonlySet<string>;
}

export const MISARRANGED = {
  loop: 'it repeats itself',
  naming: 'its name was not said as a name',
  apart: 'it combines things that were said separately',
  denied: 'it claims what the message denies',
} as const;

/**
 * Why a fact was never said so, though all its words may have been: it ends in a loop, or says of a thing that it is itself; it
 * takes other words for a name; it says of one thing that it is another, and nobody who spoke of the one spoke of the other, or
 * only to deny it. null where it was.
 */
export function whyMisarranged(text: string, heard: Heard): string | null {
  const loop = mayLoop(text) ? loopIn(text) : null;
  if (loop !== null && !isLoopSaid(loop, heard)) return MISARRANGED.loop;
  const predicate = predicateIn(text);
  if (predicate !== null && saysItself(predicate, heard)) return MISARRANGED.loop;
  if (!namingsIn(text).every((naming) => isGiven(naming, heard.told, heard.known))) return MISARRANGED.naming;
  return predicate === null || DENIES.test(predicate.is) ? null : whyNoIdentity(predicate, heard);
}

/** Whether that has to be looked into where a fact begins with "User": found out at once, and false of most. */
export const mayBeMisarranged = (text: string): boolean =>
  mayLoop(text) || (text.startsWith("User's ") ? text.includes(' is ') || text.includes(' are ') : mayCallUser(text));

/** Whether somebody said the same thing twice at once: a line of a song is a loop, too. */
const isLoopSaid = (passage: string, { words }: Heard): boolean =>
  words.some(({ plain }) => plain.indexOf(passage) !== plain.lastIndexOf(passage));

interface Predicate {
  /** What is said to be something… */
  readonly of: string;
  /** …and what. */
  readonly is: string;
}

/** How facts of the prompts' languages say that something of the user's is something; without accents. */
const PREDICATES = [
  /^(?:the )?(?:user['’]s|my) (.{1,60}?) (?:is|are) (.+)$/iu,
  /^(?:der|die|das) (.{1,60}?) (?:des|der) (?:nutzer|benutzer)(?:s|in)? (?:ist|sind) (.+)$/iu,
  /^(?:el|la|los|las|o|a|os|as|il|lo) (.{1,60}?) (?:del?(?: la)?|d[oa]|dell['’]) ?(?:usuari[oa]|utente) (?:e|es|son|sao) (.+)$/iu,
  /^(?:le|la|les|l['’]) ?(.{1,60}?) de l['’]utilisat(?:eur|rice) (?:est|sont) (.+)$/iu,
];

function predicateIn(text: string): Predicate | null {
  const folded = foldedOf(text);
  const [, of = '', is = ''] = PREDICATES.map((form) => form.exec(folded)).find((found) => found !== null) ?? [];
  return of === '' ? null : { of, is };
}

/** "… is not a diet, …", "… is a job of …": what may say of something only that it is itself. "A car from 1998" says more. */
const SAYS_AGAIN =
  /^(?:(?:not|no|nicht|pas) )?(?:(?:an?|kein\p{L}*|ein\p{L}*|une?|uma?|(?:the )?user['’]s|his|her|their) )?(\p{L}{3,})(?= (?:of|de|von) |[,.;:!]|$)/iu;

/** Whether it says of something that it is, or is not, what it is called; somebody may have put it so. */
function saysItself({ of, is }: Predicate, { words }: Heard): boolean {
  const [begin = '', again = ''] = SAYS_AGAIN.exec(is) ?? [];
  const name = of
    .toLowerCase()
    .split(' ')
    .find((word) => word === again.toLowerCase());
  return (
    name !== undefined &&
    !words.some(({ plain }) => plain.includes(`${plainOf(begin).trimEnd()} `) && hasTwice(plain, name))
  );
}

const hasTwice = (plain: string, name: string): boolean =>
  plain.indexOf(` ${name} `) !== plain.lastIndexOf(` ${name} `);

/** Whether it says of a thing that it is, or is not, what nobody spoke of in any words: "User's gamble is not allowed". */
export function saysUnsaidOf(text: string, said: Words): boolean {
  const claims = claimsOf(predicateIn(text)?.is ?? '');
  return claims.words.length > 0 && shareOf(claims, [said]) === 0;
}

/** So many words say what something is: each of them is looked for in all that was said. */
const SAID_TO_BE = 30;

/** Who denies or changes something may name it beside what holds. */
const DENIES =
  /(?<!\p{L})(?:not|no|never|nor|longer|former|formerly|instead|rather|than|but|unlike|without|until|nicht|kein\p{L}*|statt|mehr|nunca|pas|plus|jamais|sin|sem|non|nao|mas|pero)(?!\p{L})|n['’]t/iu;

/** So many messages after each other speak of one thing. */
const TOGETHER = 4;

function whyNoIdentity(predicate: Predicate, { words, summary }: Heard): string | null {
  const [of, is] = [claimsOf(predicate.of).words, claimsOf(predicate.is).words.slice(0, SAID_TO_BE)];
  const isSaid = (word: string): boolean => words.some((one) => hasWord(one, word));
  const [saidOf, saidIs] = [of.filter(isSaid), is.filter(isSaid)];
  const isTogether = words.some((_, at) => {
    const near = [summary, ...words.slice(Math.max(0, at - TOGETHER + 1), at + 1)];
    const isNear = (word: string): boolean => near.some((one) => hasWord(one, word));
    return saidOf.every(isNear) && saidIs.filter(isNear).length * 2 >= saidIs.length;
  });
  if (saidOf.length > 0 && saidIs.length > 0 && !isTogether) return MISARRANGED.apart;
  return saidIs.some((word) => isDenied(word, words)) ? MISARRANGED.denied : null;
}

/** Whether something is spoken of only to say that it is not so: "not the violin". */
function isDenied(word: string, words: readonly Words[]): boolean {
  const form = new RegExp(`(${NOT})?(?<= )${word}`, 'gu');
  const found = words.flatMap(({ plain }) => [...plain.matchAll(form)]);
  return found.length > 0 && found.every(([, denied]) => denied !== undefined);
}

const NOT =
  ' (?:not|nicht|pas|nao|non) (?:(?:the|a|an|my|der|die|das|den|le|la|l|un|une|o|os|as|um|uma|il|lo) )?| (?:kein|keine|keinen) ';
