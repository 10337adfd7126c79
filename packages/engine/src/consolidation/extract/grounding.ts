import { trustOf } from '../../memories/trust.ts';
import type { Spoken } from '../../messages/messages.ts';
import type { RawFact } from '../../models/parse/listed.ts';
import type { Sliced } from '../../ports/tools.ts';
import {
  besideNames,
  type Claims,
  claimsOf,
  foldedOf,
  heldAgainst,
  joinedWords,
  shareOf,
  spokenWords,
  standsIn,
  type Words,
  wordCount,
  wordsIn,
} from '../../text/claims.ts';
import { figuresIn, isNumberWord } from '../../text/figures.ts';
import { mayBeCalled } from '../../text/naming.ts';
import { wordsInPieces } from '../../text/pieces.ts';
import { once } from '../../text/terms.ts';
import type { Message, Millis } from '../../words.ts';
import { type Heard, mayBeMisarranged, whyMisarranged } from './arrangement.ts';
import type { Looking } from './lineage.ts';

/** What a model was given to find facts in. */
interface Given {
  readonly window: readonly Spoken[];
  /** What it was shown from before the window. */
  readonly before: readonly Spoken[];
  /** What else it was shown of what was said: the summary. */
  readonly summary: string | null;
  /** What the settings say: a name may stand there, but nothing was said there. */
  readonly instructions: string | null;
  /** The settings ask for facts in a language of their own: words of another cannot be compared. */
  readonly isTranslated: boolean;
}

interface Made {
  readonly raw: Pick<RawFact, 'text' | 'quote'>;
  readonly sources: readonly Message[];
  /** Its quote stands in one of its messages as it is. */
  readonly isExact: boolean;
}

/** A quote of so many words says by itself what a fact puts in others. */
const QUOTE_WORDS = 3;
/** Nobody says so much, in characters, without saying as many. */
const QUOTE_LONG = 60;
/** So much of a fact's own words stands there, beside a shorter quote… */
const BESIDE_QUOTE = 0.34;
/** …and this much where no quote is given, or where no name would show. */
const ALONE = 0.5;

export const UNSAID = {
  name: 'it has a name that nobody said',
  number: 'it has a number that nobody said',
  date: 'it has a date that nobody said, and that follows from no timestamp',
  quote: 'its quote is in no message, and its words are not in those that it names',
  short: 'its quote is too short to say it, and its words are in no message',
  words: 'its words are in no message',
} as const;

/**
 * Why a fact was never said; null where it was. Models make facts of the examples of their prompt, of the words of a schema and
 * of nothing. Each name, number and date has to stand in what the model was shown, and the rest in a quote, or in part in messages.
 */
export function groundingIn(given: Given, looking: Looking) {
  const known = new Map<Spoken, Words>();
  const wordsOf = (spoken: Spoken): Words => {
    const words = known.get(spoken) ?? wordsIn(spoken.text);
    known.set(spoken, words);
    return words;
  };
  const countOf = once(wordCount);
  const marksOf = once((source: Message) => looking.textsOf([source]).map(markedIn));
  const marksIn = (sources: readonly Message[]): readonly ReadonlySet<string>[] => {
    const [source] = sources;
    return source !== undefined && sources.length === 1 ? marksOf(source) : sources.flatMap(marksOf);
  };
  const isLong = ({ raw: { quote } }: Made): boolean =>
    quote !== null && (quote.length >= QUOTE_LONG || countOf(quote) >= QUOTE_WORDS);
  /** The sentence that it quotes of a user; null where it quotes none that says something. */
  const inQuotesWords = ({ isExact, sources, raw: { quote } }: Made): string | null => {
    if (!isExact || quote === null || !saysSomething(quote)) return null;
    const own = sources.filter((source) => trustOf(source) === 'user');
    const text = looking.textsOf(own).find((one) => one.includes(quote));
    return text === undefined ? null : sentenceOf(quote, text);
  };
  let held: Held | null = null;
  return {
    inQuotesWords,
    /** Whether a fact was said without a doubt: found out at once, and true of nearly all. */
    isPlain: (made: Made): boolean =>
      made.isExact &&
      isLong(made) &&
      ((standsPlainly(made.raw.text, marksIn(made.sources)) && !mayBeMisarranged(made.raw.text)) ||
        standsAsItIs(made.raw.text, looking.textsOf(made.sources))),
    whyUnsaid: function* (made: Made): Sliced<string | null> {
      held ??= yield* holding(given, known);
      const claims = claimsOf(made.raw.text);
      const own = looking.spokenBy(made.sources).map(wordsOf);
      const isForeign = given.isTranslated && !own.some(({ isCased }) => isCased);
      const stranger = strangerIn(withoutSums(claims, made), held, isForeign) ?? whyMisarranged(made.raw.text, held);
      if (stranger !== null || given.isTranslated) return stranger;
      const { isExact, raw } = made;
      return unsupported(claims, {
        ...raw,
        quote: raw.quote ?? '',
        isExact,
        isLong: isLong(made),
        own,
        all: held.spoken,
      });
    },
  };
}

/** Without what the numbers of its quote come to: two sons and one daughter are three. */
function withoutSums(claims: Claims, { isExact, raw: { quote } }: Made): Claims {
  if (!isExact || quote === null || claims.figures.numbers.length === 0) return claims;
  const said = [...figuresIn(quote).numbers].slice(0, SUMMED_MAX);
  const sums = new Set(said.flatMap((one, i) => said.slice(i + 1).map((other) => one + other)));
  sums.add(said.reduce((sum, one) => sum + one, 0));
  const numbers = claims.figures.numbers.filter(({ whole }) => !sums.has(whole));
  return { ...claims, figures: { ...claims.figures, numbers } };
}

/** Who says more numbers than this does not count them together. */
const SUMMED_MAX = 6;

interface Support {
  readonly text: string;
  readonly quote: string;
  readonly isExact: boolean;
  readonly isLong: boolean;
  /** What the messages that it names say. */
  readonly own: readonly Words[];
  /** What anybody says, joined. */
  readonly all: Words;
}

function unsupported(claims: Claims, { text, quote, isExact, isLong, own, all }: Support): string | null {
  if (standsIn(text, all)) return null;
  if (quote === '') return shareOf(claims, [all]) >= ALONE ? null : UNSAID.words;
  const isQuoted = isExact || standsIn(quote, all);
  if (!isQuoted) return shareOf(besideNames(claims), own) > ALONE ? null : UNSAID.quote;
  return claims.isCased && isLong ? null : besideQuote(claims, [all]);
}

function strangerIn(claims: Claims, held: Held, isForeign: boolean): string | null {
  if (!held.hasNumbers(claims)) return UNSAID.number;
  if (!held.hasDates(claims)) return UNSAID.date;
  return isForeign || held.hasNames(claims) ? null : UNSAID.name;
}

/** Where no capital shows a name, half of what is said has to stand there: names are most of it. */
const besideQuote = (claims: Claims, said: readonly Words[]): string | null =>
  shareOf(claims, said) >= (claims.isCased ? BESIDE_QUOTE : ALONE) ? null : UNSAID.short;

/** So many words, common or not, can say something: "I like tea". Half as many signs where a sign is a word. */
const SAYING_WORDS = 3;
const saysSomething = (quote: string): boolean => spokenWords(quote) >= SAYING_WORDS && wordCount(quote) >= 1;

/** A longer sentence is none: then the quote stands for itself. In characters. */
const QUOTED_MAX = 400;

/** The sentence of a text in which a quote stands: without it a quote can say the contrary. */
function sentenceOf(quote: string, text: string): string {
  const at = text.indexOf(quote);
  const before = text.slice(Math.max(0, at - QUOTED_MAX), at);
  const after = text.slice(at + quote.length, at + quote.length + QUOTED_MAX);
  const from = [...before.matchAll(SENTENCE_ENDS)].at(-1);
  const begin = from === undefined ? before : before.slice(from.index + from[0].length);
  const end = ENDS_SENTENCE.test(quote) ? '' : after.slice(0, endOfSentence(after));
  const sentence = `${begin}${quote}${end}`.trim();
  return sentence.length > QUOTED_MAX ? quote.trim() : sentence;
}

const SENTENCE_ENDS = /[.!?…]+["”’)]*\s+|[。！？\n]/gu;
const ENDS_SENTENCE = /(?:[.!?…]["”’)]*|[。！？\n])\s*$/u;

function endOfSentence(text: string): number {
  const found = /[.!?…]+["”’)]*(?=\s|$)|[。！？]|(?=\n)/u.exec(text);
  return found === null ? text.length : found.index + found[0].length;
}

type Held = ReturnType<typeof heldAgainst> & Heard & { readonly spoken: Words };

/** Notes what each message says in `known`. */
function* holding({ window, before, summary, instructions }: Given, known: Map<Spoken, Words>): Sliced<Held> {
  const spoken: Words[] = [];
  for (const one of [...before, ...window]) {
    yield;
    const said = yield* wordsInPieces(one.text);
    known.set(one, said);
    spoken.push(said);
  }
  const shown = [...before, ...window];
  const words = [...spoken];
  const speakers = wordsIn([...new Set(shown.flatMap(({ message: { name } }) => name ?? []))].join('\n'));
  const summed = wordsIn(summary ?? '');
  if (summary !== null) spoken.push(summed);
  yield;
  const all = joinedWords([...spoken, wordsIn(instructions ?? ''), speakers]);
  yield;
  return {
    ...heldAgainst(all, shown.map(localMoment)),
    ...{ spoken: joinedWords(spoken), words, summary: summed, known: new Set([...summed.words, ...speakers.words]) },
    told: shown.map(({ message: { role }, text }, at) => ({
      ...{ text: foldedOf(text), isAnswer: role === 'assistant' },
      asked: shown[at - 1]?.message.role === 'assistant' ? foldedOf(shown[at - 1]?.text.slice(-ASKED_MAX) ?? '') : null,
    })),
  };
}

/** A question stands at the end of what is said with it. In characters. */
const ASKED_MAX = 1_000;

const localMoment = ({ message: { saidAt, clock } }: Spoken): Millis => saidAt.at + (clock?.offset ?? 0) * 60_000;

/** What no name and no number has in it, read many times as fast as anything that looks for what they have. */
const UNMARKED = /[^A-Z0-9\x7f-\uffff]*/y;
/** How numbers begin that are written as words. */
const MAY_BE_NUMBER = / (?:t(?:w[eo]|h[ir]|en)|fou|for|fi[fv]|six|sev|eig|nin|ele|hun|tho|doz)/;
/** Nearly every fact is shorter. In characters. */
const SENTENCE_MAX = 300;

/**
 * Whether each name and number of a fact in plain words stands letter by letter in what was said: nearly all do, and to
 * find that out takes a fraction of what comparing words does.
 */
function standsPlainly(text: string, said: readonly ReadonlySet<string>[]): boolean {
  if (!text.startsWith('User ') && !text.startsWith("User's ")) return false;
  let hasDigits = false; // who writes a number in digits writes none as a word
  for (let at = nextMark(text, 'User'.length); at < text.length; ) {
    const end = endOfWord(text, at);
    const isDigit = text.charCodeAt(at) < CAPITAL_FIRST;
    hasDigits ||= isDigit;
    const from = beginOfWord(text, at);
    if (end === at || !isAmong(said, text.slice(from, end)) || (!isDigit && mayBeCalled(text, from))) return false;
    at = end === text.length ? end : nextMark(text, end);
  }
  return hasDigits || text.length > SENTENCE_MAX || !MAY_BE_NUMBER.test(text);
}

/** Whether a text stands word for word in what was said. Number words are left out: two of them can come to a third. */
const standsAsItIs = (text: string, said: readonly string[]): boolean =>
  said.some((one) => isWholeIn(one, text)) && !(text.toLowerCase().match(LETTERS) ?? []).some(isNumberWord);

function isWholeIn(said: string, text: string): boolean {
  const at = said.indexOf(text);
  const end = at + text.length;
  return (
    at !== -1 && !ENDS_IN_WORD.test(said.slice(Math.max(0, at - 2), at)) && !BEGINS_WORD.test(said.slice(end, end + 2))
  );
}

const LETTERS = /[\p{L}\p{M}]+/gu;
const ENDS_IN_WORD = /[\p{L}\p{M}\p{N}]$/u;
const BEGINS_WORD = /^[\p{L}\p{M}\p{N}]/u;

function isAmong(sets: readonly ReadonlySet<string>[], word: string): boolean {
  for (const set of sets) if (set.has(word)) return true;
  return false;
}

/** Where the next capital, digit or letter of another alphabet stands, or the end. */
function nextMark(text: string, from: number): number {
  UNMARKED.lastIndex = from;
  UNMARKED.test(text);
  return UNMARKED.lastIndex;
}

const CAPITAL_FIRST = 0x41;
const isLetterOrDigit = (code: number): boolean =>
  (code >= 0x61 && code <= 0x7a) || (code >= 0x30 && code <= 0x39) || (code >= 0x41 && code <= 0x5a);

function beginOfWord(text: string, at: number): number {
  let from = at;
  while (from > 0 && isLetterOrDigit(text.charCodeAt(from - 1))) from -= 1;
  return from;
}

/** The same place where no word goes on. */
function endOfWord(text: string, at: number): number {
  let end = at;
  while (end < text.length && isLetterOrDigit(text.charCodeAt(end))) end += 1;
  return end;
}

/** The words of a text that have a capital or a digit in them. */
function markedIn(text: string): ReadonlySet<string> {
  const marks = new Set<string>();
  for (let at = nextMark(text, 0); at < text.length; ) {
    const end = endOfWord(text, at);
    if (end > at) marks.add(text.slice(beginOfWord(text, at), end));
    at = nextMark(text, Math.max(end, at + 1));
  }
  return marks;
}

/** Whether settings say in which language facts are written. */
export const asksForLanguage = (settings: readonly (string | null)[]): boolean =>
  settings.some((text) => text !== null && LANGUAGE.test(text));

const LANGUAGE =
  /\btranslat|\b(?:in|into|to|using|use|write|always)\s+(?:plain\s+|simple\s+|only\s+)?(?:english|german|french|spanish|italian|portuguese|dutch|russian|chinese|mandarin|japanese|korean|arabic|hindi|turkish|polish|swedish|norwegian|danish|finnish|greek|czech|ukrainian|vietnamese|thai|indonesian)\b|\bauf (?:deutsch|englisch)|übersetz|\ben (?:español|inglés|francés|anglais|français)|tradui|traduc|\bin (?:italiano|inglese)|\bem (?:português|inglês)|(?:用|以|成|为)(?:简体|繁体)?(?:中文|英文|英语|汉语|日文|日语)|翻译|翻訳|(?:英語|日本語)で|영어로|한국어로|번역|на (?:русском|английском)|перевод|перевед/iu;
