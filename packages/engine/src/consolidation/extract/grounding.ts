import { leastOf, type Spoken, trustOf } from '../../messages/messages.ts';
import type { RawFact } from '../../models/parse/listed.ts';
import type { Sliced } from '../../ports/tools.ts';
import {
  type Claims,
  claimsOf,
  factTerms,
  foldedOf,
  heldAgainst,
  joinedWords,
  spokenWords,
  standsIn,
  type Words,
  wordCount,
  wordsIn,
} from '../../text/claims.ts';
import { normaliseText } from '../../text/normalise.ts';
import { isNumberWord, quantitiesIn } from '../../text/quantities.ts';
import { besideNames, shareOf, wordsInPieces } from '../../text/support.ts';
import { containment, once, termSet } from '../../text/terms.ts';
import type { Message, Millis, Trust } from '../../words.ts';
import { speaksOfForgetting, withoutWishes } from './rules.ts';
import { type Heard, mayBeMisarranged, PlainText, saysUnsaidOf, standsPlainly, whyMisarranged } from './said-so.ts';

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

/** So much of what a fact says in particular stands there, whatever it quotes. */
const SUPPORTED = 0.5;

export const UNSAID = {
  name: 'it contains a name that nobody said',
  number: 'it contains a number that nobody said',
  date: 'it contains a date that nobody said and that does not follow from a timestamp',
  quote: 'its quote is in no message, and its words are not in the messages it cites',
  beside: 'its quote does not support it, and most of its words are in no message',
  words: 'most of its words are in no message',
  predicate: 'it says something about its subject that nobody said',
  wish: 'most of it was only said in a request to forget it',
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
  const wishes = wishesIn(looking);
  const plainOf = once((source: Message) => looking.textsOf([source]).map((text) => new PlainText(text)));
  const plainOfAll = (sources: readonly Message[]): readonly PlainText[] => {
    const [source] = sources;
    return source !== undefined && sources.length === 1 ? plainOf(source) : sources.flatMap(plainOf);
  };
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
    isPlain: ({ isExact, sources, raw: { text } }: Made): boolean => {
      if (!isExact) return false;
      const said = plainOfAll(sources);
      if (standsPlainly(text, said) && !mayBeMisarranged(text))
        return !said.some(({ mayAsk }) => mayAsk) || !wishes.areIn(sources);
      return standsAsItIs(text, looking.textsOf(sources)) && !wishes.areIn(sources);
    },
    whyUnsaid: function* (made: Made): Sliced<string | null> {
      held ??= yield* holding(given, known);
      const claims = withoutSums(claimsOf(made.raw.text), made);
      const own = looking.spokenBy(made.sources).map(wordsOf);
      const isForeign = given.isTranslated && !own.some(({ isCased }) => isCased);
      const stranger = strangerIn(claims, held, isForeign) ?? whyMisarranged(made.raw.text, held);
      const { isExact, raw } = made;
      const support = { ...raw, quote: raw.quote ?? '', ...{ isExact, own, all: held.spoken } };
      const refused = stranger ?? (given.isTranslated ? null : unsupported(claims, support));
      if (refused !== null || !wishes.areIn(made.sources) || speaksOfForgetting(raw.text)) return refused;
      const isMeant = given.isTranslated ? wishes.isQuoteMeant(made) : yield* wishes.isMeant(made, claims);
      return isMeant ? null : UNSAID.wish;
    },
  };
}

/** What users say besides what they want forgotten: a fact that rests on the wish alone would keep it. */
function wishesIn(looking: Looking) {
  /** null: there is no wish in it. */
  const textsMeantBy = once((message: Message): readonly string[] | null => {
    const texts = trustOf(message) === 'user' ? looking.textsOf([message]) : [];
    const meant = texts.map(withoutWishes);
    return meant.some((text, at) => text !== texts[at]) ? meant : null;
  });
  const meantBy = (message: Message): readonly string[] => textsMeantBy(message) ?? looking.textsOf([message]);
  const known = new Map<Message, readonly Words[]>();
  const wordsMeantBy = function* (message: Message): Sliced<readonly Words[]> {
    const words: Words[] = [];
    for (const text of meantBy(message)) words.push(yield* wordsInPieces(text));
    known.set(message, words);
    return words;
  };
  return {
    areIn: (sources: readonly Message[]): boolean => sources.some((source) => textsMeantBy(source) !== null),
    /** Whether a fact is supported by what its messages say besides. */
    isMeant: function* ({ sources, raw: { text } }: Made, claims: Claims): Sliced<boolean> {
      const meant: Words[] = [];
      for (const source of sources) meant.push(...(known.get(source) ?? (yield* wordsMeantBy(source))));
      return standsIn(text, joinedWords(meant)) || shareOf(claims, meant) >= SUPPORTED;
    },
    /** The same of one in another language, which its quote alone can show. */
    isQuoteMeant: ({ sources, isExact, raw: { quote } }: Made): boolean =>
      !isExact || quote === null || sources.flatMap(meantBy).some((text) => text.includes(quote)),
  };
}

/** Without what the numbers of its quote come to: two sons and one daughter are three. */
function withoutSums(claims: Claims, { isExact, raw: { quote } }: Made): Claims {
  if (!isExact || quote === null || claims.quantities.numbers.length === 0) return claims;
  const said = [...quantitiesIn(quote).numbers].slice(0, SUMMED_MAX);
  const sums = new Set(said.flatMap((one, i) => said.slice(i + 1).map((other) => one + other)));
  sums.add(said.reduce((sum, one) => sum + one, 0));
  const numbers = claims.quantities.numbers.filter(({ whole }) => !sums.has(whole) || said.includes(whole));
  return { ...claims, quantities: { ...claims.quantities, numbers } };
}

/** Who says more numbers than this does not count them together. */
const SUMMED_MAX = 6;

interface Support {
  readonly text: string;
  readonly quote: string;
  readonly isExact: boolean;
  /** What the messages that it names say. */
  readonly own: readonly Words[];
  /** What anybody says, joined. */
  readonly all: Words;
}

function unsupported(claims: Claims, { text, quote, isExact, own, all }: Support): string | null {
  if (standsIn(text, all)) return null;
  const isQuoted = quote !== '' && (isExact || standsIn(quote, all));
  const isMisquoted = quote !== '' && !isQuoted;
  const isSaid = isMisquoted ? shareOf(besideNames(claims), own) > SUPPORTED : shareOf(claims, [all]) >= SUPPORTED;
  if (isSaid) return saysUnsaidOf(text, all) ? UNSAID.predicate : null;
  if (isMisquoted) return UNSAID.quote;
  return isQuoted ? UNSAID.beside : UNSAID.words;
}

function strangerIn(claims: Claims, held: Held, isForeign: boolean): string | null {
  if (!held.hasNumbers(claims)) return UNSAID.number;
  if (!held.hasDates(claims)) return UNSAID.date;
  return isForeign || held.hasNames(claims) ? null : UNSAID.name;
}

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
  const shown = [...before, ...window];
  for (const one of shown) {
    yield;
    known.set(one, yield* wordsInPieces(one.text));
  }
  const words = shown.flatMap((one) => known.get(one) ?? []);
  const speakers = wordsIn([...new Set(shown.flatMap(({ message: { name } }) => name ?? []))].join('\n'));
  const summed = wordsIn(summary ?? '');
  const spoken = summary === null ? words : [...words, summed];
  yield;
  const all = joinedWords([...spoken, wordsIn(instructions ?? ''), speakers]);
  yield;
  return {
    ...heldAgainst(all, shown.map(localMoment)),
    ...{ spoken: joinedWords(spoken), words, summary: summed },
    known: new Set([...summed.words, ...speakers.words]),
    told: shown.map(({ message: { role }, text }, at) => ({
      ...{ text: foldedOf(text), isAnswer: role === 'assistant' },
      asked: shown[at - 1]?.message.role === 'assistant' ? foldedOf(shown[at - 1]?.text.slice(-ASKED_MAX) ?? '') : null,
    })),
  };
}

/** A question stands at the end of what is said with it. In characters. */
const ASKED_MAX = 1_000;

const localMoment = ({ message: { saidAt, clock } }: Spoken): Millis => saidAt.at + (clock?.offset ?? 0) * 60_000;

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

/** Whether settings say in which language facts are written. */
export const asksForLanguage = (settings: readonly (string | null)[]): boolean =>
  settings.some((text) => text !== null && LANGUAGE.test(text));

const LANGUAGE =
  /\btranslat|\b(?:in|into|to|using|use|write|always)\s+(?:plain\s+|simple\s+|only\s+)?(?:english|german|french|spanish|italian|portuguese|dutch|russian|chinese|mandarin|japanese|korean|arabic|hindi|turkish|polish|swedish|norwegian|danish|finnish|greek|czech|ukrainian|vietnamese|thai|indonesian)\b|\bauf (?:deutsch|englisch)|übersetz|\ben (?:español|inglés|francés|anglais|français)|tradui|traduc|\bin (?:italiano|inglese)|\bem (?:português|inglês)|(?:用|以|成|为)(?:简体|繁体)?(?:中文|英文|英语|汉语|日文|日语)|翻译|翻訳|(?:英語|日本語)で|영어로|한국어로|번역|на (?:русском|английском)|перевод|перевед/iu;

/** So much of a text's words stands in external content that it was read there… */
const READ_THERE = 0.8;
/** …unless the messages that it names say at least this much of it. What says less of it leaves it to a conclusion. */
const SAID_ENOUGH = 0.34;

/** What a fact or a relation was made of, as the model says. */
interface MadeFrom {
  /** What it says, each of them to be supported: a fact by its text, a relation by its names. */
  readonly texts: readonly string[];
  readonly quote: string | null;
  readonly sources: readonly Message[];
  /** Its quote stands in one of its messages as it is; found out here where it is not said. */
  readonly isExact?: boolean;
}

/** What a model was shown to find them in. */
interface Shown {
  readonly window: readonly Spoken[];
  /** What was said before the window. */
  readonly before: readonly Spoken[];
  /** The summary, where external content is in it. */
  readonly summary: string | null;
}

/**
 * Whose word facts and relations of a window are: the least of the messages that each of them names. A model may have read it
 * elsewhere, also in what it is shown from before the window, and one that obeys a page says that the user has said it: what
 * stands in external content and in no message that is named is external. So is what a summary of such content says and no
 * message does: it says it in words of its own, so that fewer of them have to stand there.
 */
export function lineageIn(
  { window, before, summary }: Shown,
  looking = lookingIn(window, before),
): (made: MadeFrom) => Trust {
  const wordsOf = once((text: string) => normaliseText(text));
  const termsOf = once((text: string) => termSet(text));
  const isExternal = ({ message }: Spoken): boolean => trustOf(message) === 'external';
  const external = [...before, ...window].filter(isExternal);
  const others = [...before, ...window].filter((spoken) => !isExternal(spoken));
  const holds = ({ text }: Told, quoted: string): boolean => quoted !== '' && wordsOf(text).includes(quoted);
  const says = ({ text }: Told, one: ReadonlySet<string>, share: number): boolean =>
    one.size > 0 && containment(one, termsOf(text)) >= share;
  const standsIn = (told: Told, { quoted, asked, isQuoted, isSupported }: Sought, share: number): boolean =>
    (!isQuoted && holds(told, quoted)) || (!isSupported && asked.every((one) => says(told, one, share)));
  const soughtOf = ({ texts, quote, sources }: MadeFrom, isExact: boolean): Sought => {
    const asked = texts.map(factTerms);
    const own = looking.spokenBy(sources);
    const quoted = normaliseText(quote ?? '');
    const isQuoted = isExact || own.some((spoken) => holds(spoken, quoted));
    const isSupported = asked.every((one) => own.some((spoken) => says(spoken, one, SAID_ENOUGH)));
    return { quoted, asked, isQuoted, isSupported };
  };
  const isOfSummary = (sought: Sought): boolean => {
    const share = sought.isQuoted ? READ_THERE : SAID_ENOUGH;
    const isSummed = summary !== null && standsIn({ text: summary }, sought, share);
    return isSummed && !others.some((spoken) => standsIn(spoken, sought, share));
  };
  return (made) => {
    const { sources, quote, isExact = looking.saidIn(sources, quote ?? '') } = made;
    const named = leastOf(sources.map(trustOf));
    if (named === 'external') return named;
    // Most quotes stand there as they are. All that follows takes far longer than to look for them.
    if (isExact && external.length === 0 && summary === null) return named;
    const sought = soughtOf(made, isExact);
    if (external.some((spoken) => standsIn(spoken, sought, READ_THERE))) return 'external';
    if (sought.isSupported) return named;
    if (isOfSummary(sought)) return 'external';
    return sought.isQuoted ? named : leastOf([named, 'inferred']);
  };
}

type Told = Pick<Spoken, 'text'>;

/** What is looked for of one fact, and whether its own messages have it. */
interface Sought {
  readonly quoted: string;
  readonly asked: readonly ReadonlySet<string>[];
  readonly isQuoted: boolean;
  readonly isSupported: boolean;
}

/** How it is looked up what messages of a window say. */
type Looking = ReturnType<typeof lookingIn>;

export function lookingIn(window: readonly Spoken[], before: readonly Spoken[]) {
  const places = new Map<string, number[]>(); // several of a message that was cut into slices
  for (const [i, { message }] of window.entries()) {
    const known = places.get(message.id);
    if (known === undefined) places.set(message.id, [i]);
    else known.push(i);
  }
  const placesOf = ({ id }: Message): readonly number[] => places.get(id) ?? [];
  return {
    /** Whether one of them has the words as they are. */
    saidIn: (sources: readonly Message[], words: string): boolean => {
      if (words === '') return false;
      for (const source of sources)
        for (const place of placesOf(source)) if (window[place]?.text.includes(words)) return true;
      return false;
    },
    textsOf: (sources: readonly Message[]): readonly string[] =>
      sources.flatMap(placesOf).map((place) => window[place]?.text ?? ''),
    /** What they say, and what was said right before each of them: who says yes says what was asked. */
    spokenBy: (sources: readonly Message[]): readonly Spoken[] => {
      const own = sources.flatMap(placesOf).flatMap((place) => {
        const [asked, said] = [place === 0 ? before.at(-1) : window[place - 1], window[place]];
        const isAsked = asked !== undefined && trustOf(asked.message) !== 'external';
        return [isAsked ? asked : undefined, said].filter((one) => one !== undefined);
      });
      return [...new Set(own)];
    },
  };
}
