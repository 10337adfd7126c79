import type { Sliced } from '../ports/tools.ts';
import {
  BEGIN,
  type Claims,
  casedShare,
  claimsOf,
  foldedOf,
  heldAgainst,
  joinedWords,
  plainOf,
  spokenWords,
  UNSPACED,
  type Words,
  wordsIn,
} from './claims.ts';
import { cut } from './normalise.ts';
import { hasNumber } from './quantities.ts';
import { STOP_WORDS, termSet } from './terms.ts';
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

/** That a fact says what somebody or something is called. */
interface Naming {
  /** The user, who says so or is asked; anybody and anything else is called so by others. */
  readonly isUser: boolean;
  /** The words of the name, without particles. */
  readonly words: readonly string[];
}

/** What a text says somebody or something is called. */
export function namingsIn(text: string): readonly Naming[] {
  if (!MAY_NAME.test(text)) return [];
  const folded = foldedOf(text);
  const ofUser = [...folded.matchAll(CALLS_USER)].map((found) => ({ isUser: true, at: found.index + found[0].length }));
  const known = new Set(ofUser.map(({ at }) => at));
  const ofOthers = [...folded.matchAll(CALLS)].map((found) => ({ isUser: false, at: found.index + found[0].length }));
  const all = [...ofUser, ...ofOthers.filter(({ at }) => !known.has(at))].slice(0, NAMINGS_MAX);
  return all.flatMap(({ isUser, at }) => {
    const words = nameAt(folded.slice(at, at + NAME_MAX), isUser);
    return words.length === 0 ? [] : [{ isUser, words }];
  });
}

/** One fact names no more: each word of each name is looked for in all that was said. */
const NAMINGS_MAX = 8;
/** No name is longer, in characters. */
const NAME_MAX = 100;

/** Whether a text that begins with "User " may say what the user is called, found out at once. */
export function mayCallUser(text: string): boolean {
  const next = text.charAt('User '.length);
  return (next === 'i' && IS_CALLED.test(text)) || (next === 'g' && text.startsWith('User goes by '));
}

const IS_CALLED = /^User is (?:called|named|known) /u;

/** Whether the word that begins at a place may be a name that somebody or something is said to have, found out at once. */
export const mayBeCalled = (text: string, at: number): boolean =>
  text.charCodeAt(at - 1) === SPACE && CALLING.some((calling) => text.startsWith(calling, at - calling.length));

const SPACE = 0x20;
const CALLING = [
  'called ',
  'named ',
  'known as ',
  'goes by ',
  'the name ',
  'name of ',
  'name is ',
  'called the ',
  'named the ',
];

/** Parts of the words below, in the languages of the prompts. */
const MAY_NAME =
  /name|call|known as|goes by|hei(?:ß|ss)t|genannt|namens|llam|nombre|appel|\bnom|chama|chiam|nome|зов|имя|叫|名/iu;

const USER = '(?:user|speaker|customer)';
const KIND = '(?:(?:full|first|last|given|real|preferred|new|nick|sur)[ -]?)?';
/** How a fact says what the user is called; accents are left out. The name follows. */
const CALLS_USER = new RegExp(
  [
    `(?<![\\p{L}’'] ?)(?:the )?(?:${USER}['’]s|my) ${KIND}name is (?:now |actually )?`,
    `${KIND}name of the ${USER} is `,
    `(?<!\\p{L} )(?:the )?(?:${USER}|I) (?:is|am|was) (?:now |also |actually )?(?:called|named|known as) `,
    `(?<!\\p{L} )(?:the )?${USER} goes by (?:the name (?:of )?)?`,
    '(?:nutzer|benutzer)(?:in)? hei(?:ß|ss)t ',
    'name (?:des|der) (?:nutzer|benutzer)(?:s|in)? (?:ist|lautet) ',
    '(?:usuario|usuaria) se (?:llama|chama) ',
    '(?:nombre|nome) d(?:el|e la|o|a) (?:usuario|usuaria) es? ',
    "utilisat(?:eur|rice) s['’]appelle ",
    "nom de l['’]utilisat(?:eur|rice) est ",
    "utente si chiama |nome dell['’]utente e ",
    'пользователя зовут |имя пользователя(?: —| -|:)? ',
    '用户的?(?:名字|姓名|全名)(?:是|叫|为)|用户(?:名叫|叫做)|ユーザーの名前は',
  ].join('|'),
  'giu',
);
/** The same of anybody and anything. */
const CALLS =
  /(?<!\p{L})(?:(?:name is|called|named|nicknamed|known as|goes by(?: the name(?: of)?)?|name ist|hei(?:ß|ss)(?:t|en)|genannt|namens|se llaman?|llamad[oa]s?|s['’]appellent?|nommee?s?|appelee?s?|se chamam?|chamad[oa]s?|si chiama|зовут) )/giu;

const CAPITAL = "[\\p{Lu}\\p{Lt}][\\p{L}\\p{M}\\p{N}'’]*";
const PARTICLE = '(?:da|de|do|dos|das|del|della|di|du|van|von|der|den|la|le|al|bin|ibn|of|the|y|e)';
const NAME = new RegExp(`^["“”'‘«„(]*(${CAPITAL}(?:(?:\\.? |-)(?:${PARTICLE} ){0,2}${CAPITAL})*)`, 'u');
const LOWER = /^["“”'‘«„(]*([\p{Ll}\p{Lo}][\p{L}\p{M}'’-]*)/u;
const PARTICLES = new RegExp(`^${PARTICLE}$`, 'u');

/** The name that begins a text: words with capitals; of the user also one that has none, as many people write. */
function nameAt(text: string, isUser: boolean): readonly string[] {
  const written = NAME.exec(text)?.[1];
  if (written !== undefined) return written.split(/[ .-]+/u).filter((word) => word !== '' && !PARTICLES.test(word));
  const word = isUser ? LOWER.exec(text)?.[1] : undefined;
  return word === undefined || STOP_WORDS.has(word) ? [] : [word];
}

/** Something that was said, as it is searched for names. */
export interface Told {
  /** Without accents. */
  readonly text: string;
  /** What was asked right before it, without accents; null where nothing was. */
  readonly asked: string | null;
  /** By the assistant, who calls the user by name. */
  readonly isAnswer: boolean;
}

/** Whether what was said gives somebody a name: each word of it, where it was said at all. `known`: words that need no more. */
export function isGiven({ isUser, words }: Naming, told: readonly Told[], known: ReadonlySet<string>): boolean {
  const all = new Set(words.map((word) => word.toLowerCase()));
  return [...new Set(words)].every((word) => {
    if (known.has(plainOf(word).trim())) return true;
    const places = placesOf(word, told);
    return places.length === 0 || places.some((place) => (isUser ? isUsersName(place, all) : isName(place, word)));
  });
}

interface Place {
  readonly told: Told;
  /** As it was said. */
  readonly word: string;
  /** Of the sentence that it stands in. */
  readonly before: string;
  readonly after: string;
}

/** Who repeats a word so often says no more of it. */
const PLACES_MAX = 50;
/** Of a sentence, in characters, on each side. */
const LOOKED_AT = 120;

function placesOf(word: string, told: readonly Told[]): readonly Place[] {
  const form = new RegExp(UNSPACED.test(word) ? word : `(?<![\\p{L}\\p{N}])${word}(?![\\p{L}\\p{N}])`, 'giu');
  const places: Place[] = [];
  for (const one of told) {
    const { text } = one;
    for (const found of text.matchAll(form)) {
      if (places.length === PLACES_MAX) return places;
      const end = found.index + found[0].length;
      places.push({
        told: one,
        word: found[0],
        before:
          text
            .slice(Math.max(0, found.index - LOOKED_AT), found.index)
            .split(SENTENCES)
            .at(-1) ?? '',
        after: text.slice(end, end + LOOKED_AT).split(SENTENCES)[0] ?? '',
      });
    }
  }
  return places;
}

/** Where a sentence ends; the point of a title or an initial ends none. */
const SENTENCES = /(?<!(?<!\p{L})(?:\p{Lu}|[DM]rs?|Ms|St))[.!?]+\s+|[\n;。！？]/u;

/** Words by which anybody says that something is called so; accents are left out. Of scripts that are not read here any word will do. */
const SAYS_NAME = new RegExp(
  [
    'name|call|known as|go(?:es)? by|\\bnick|spel[lt]|sign|hei(?:ß|ss)|genannt|\\bruf|nenn|llam|nombre|apellid|apodo|\\bdicen',
    'appel|\\bnom\\b|prenom|cham|apelid|\\bnome\\b|chiam|cognome|heter|heet|hedder|nimi|jmen|\\bime|imie|nazyw|hivnak|nevem',
    '\\bad[iı]m|isim|\\bten\\b|nama|зовут|зови|звать|имя|имен|фамили|звати|клич|叫|名|姓|称|呼|という|といい|申し|이름|불러|라고',
    '[\\p{Script=Arabic}\\p{Script=Hebrew}\\p{Script=Devanagari}\\p{Script=Thai}\\p{Script=Greek}]',
  ].join('|'),
  'iu',
);

/** What stands before the name of who speaks, what may stand between them, and what behind it; accents are left out. */
const INTRODUCING = new RegExp(
  `(?<!\\p{L})(?:${[
    "i['’]?m|i am|this is|it['’]?s|it is|i (?:meant?|said)|i",
    "ich bin['’]?s?(?: der| die)?|bin (?:der|die)|hier (?:ist|spricht|schreibt)(?: der| die)?|ich mein(?:t)?e",
    "soy|aqui|habla|je suis|c['’]est|moi|ici|sou(?: o| a)?|sono|ik ben|jag ar|jeg er|olen|jestem|jsem|ben|saya|aku|я|это",
  ].join('|')}),? `,
  'giu',
);
const BETWEEN = new RegExp(
  `^(?:(?:also|just|still|actually|dr|mr|mrs|ms|prof)[.,]? |[\\p{Lu}\\p{Lt}][\\p{L}'’-]*[.,]? (?:${PARTICLE} )*)*["“'‘]?$`,
  'u',
);
const RIGHT_BEFORE = /(?:[:“”"«„]|(?:^|\s)[—–-])\s?$|(?:我是|私は|僕は|俺は|저는 ?|나는 ?)$/u;
const RIGHT_BEHIND = /^(?::|,? (?:here|again|speaking|hier|aqui|am apparat)(?!\p{L}))/iu;

const isIntroduced = ({ before, after }: Place): boolean =>
  RIGHT_BEFORE.test(before) ||
  RIGHT_BEHIND.test(after) ||
  [...before.matchAll(INTRODUCING)].some((found) => BETWEEN.test(before.slice(found.index + found[0].length)));

/** Whether a word stands where the name of who speaks does. */
function isUsersName(place: Place, words: ReadonlySet<string>): boolean {
  const { told, word, before, after } = place;
  const sentence = before + after;
  if (SAYS_NAME.test(sentence) || isIntroduced(place)) return true;
  if (told.isAnswer) return isAddressed(place);
  if (told.asked !== null && SAYS_NAME.test(told.asked)) return true;
  const others = (sentence.match(WORDS) ?? []).map((one) => one.toLowerCase()).filter((one) => !words.has(one));
  return (
    isWrittenAsName(place) &&
    spokenWords(others.join(' ')) <= BESIDE_NAME &&
    ![word.toLowerCase(), ...others].some(isNoName)
  );
}

const WORDS = /[\p{L}\p{M}\p{N}]+/gu;
/** "Best regards, Ana", "Hi, Ana here": who says so little beside a name says whose it is. */
const BESIDE_NAME = 2;
/** Where and whose something is, what is asked for, and thanks. */
const NO_NAMES: ReadonlySet<string> = new Set(
  'in at to from near my your our of for with love like visit ignore thanks thank please hello hi hey yes no ok nach aus bei mein meine danke bitte hallo en de mi desde hola gracias a mon ma chez merci bonjour da em di ola obrigado ciao'.split(
    ' ',
  ),
);
const isNoName = (word: string): boolean => NO_NAMES.has(word);

const isAddressed = ({ before, after }: Place): boolean =>
  (/,\s*$/u.test(before) && /^\s*(?:[.!?,]|$)/u.test(after)) || (before.trim() === '' && /^\s*[,!]/u.test(after));

/** Whether a word stands where the name of anything does, or is spelt as the fact spells it. */
const isName = (place: Place, word: string): boolean =>
  place.word === word ||
  isWrittenAsName(place) ||
  IN_QUOTES.test(place.before) ||
  SAYS_NAME.test(place.before + place.after);

const IN_QUOTES = /(?:^|[\s(])["“„«‘'][^"“”„»]*$/u;

/** With a capital, or where nothing has one. */
const isWrittenAsName = ({ word, told }: Place): boolean =>
  UPPER.test(word) || !UPPER.test(told.text.replaceAll(/(?<!\p{L})I(?!\p{L})/gu, ''));

const UPPER = /[\p{Lu}\p{Lt}]/u;
