import { foldedOf, plainOf, spokenWords, UNSPACED } from './claims.ts';
import { STOP_WORDS } from './terms.ts';

/** That a fact says what somebody or something is called. */
export interface Naming {
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
