import { normaliseText } from './normalise.ts';
import { IRREGULAR, porterStem } from './porter.ts';

/** Goes up whenever the same text gives other terms: an index made with another number has to be rebuilt. */
export const TERMS_VERSION = 2;

/**
 * The terms of the keyword leg, in order and with repeats: stems of words without the commonest ones, irregular
 * forms by their base; names as they are and in parts; single characters and pairs where a script does not separate words.
 */
export function terms(text: string): string[] {
  return wordsOf(text).flatMap(termsOf);
}

function termsOf(word: Word): string[] {
  if (word.kind === 'unspaced') return charactersAndPairs(word.text);
  if (word.kind !== 'plain') return [word.text];
  if (STOP_WORDS.has(word.text)) return [];
  return [/^[a-z]+$/.test(word.text) ? porterStem(IRREGULAR.get(word.text) ?? word.text) : word.text];
}

/** 北京人 → 北, 京, 人, 北京, 京人: a two-character word is found inside any longer run. */
export function charactersAndPairs(run: string): string[] {
  const characters = [...run];
  const pairs = characters.slice(1).map((character, i) => `${characters[i]}${character}`);
  return [...characters, ...pairs];
}

/** About ten megabytes of the beginnings of texts: those who talk now ask the same memories again and again. */
const remembered = remembering<ReadonlySet<string>>({ max: 10_000, length: 1_000 });

/** The different terms of a text. */
export const termSet = (text: string): ReadonlySet<string> => remembered(text, () => new Set(terms(text)));

/** A piece of text that can be looked for. */
export interface Word {
  /**
   * plain     letters and digits of a script that puts spaces between words, without apostrophes and accents
   * name      a spelling with signs in it that mean something: c++, node.js, user_id
   * unspaced  a run of a script without spaces, or of Hangul: there a part of a run is a word of its own
   * sign      one emoji, without skin tone
   */
  readonly kind: 'plain' | 'name' | 'unspaced' | 'sign';
  readonly text: string;
}

/** Longest word kept, in UTF-16 units: beyond are encoded data and links, told apart well enough by their beginning. */
const LONGEST = 64;

const UNSPACED =
  '\\p{Script=Han}\\p{Script=Hiragana}\\p{Script=Katakana}\\p{Script=Hangul}\\p{Script=Bopomofo}\\u30fc' +
  '\\p{Script=Thai}\\p{Script=Lao}\\p{Script=Khmer}\\p{Script=Myanmar}';
const LETTERS = `(?:(?![${UNSPACED}])[\\p{L}\\p{M}\\p{N}])+`;
/** Alternatives in order; each begins where the one before cannot go on, so that the whole pattern is linear. */
const PIECES = new RegExp(
  `(?<unspaced>[${UNSPACED}]+)|(?<spaced>${LETTERS}(?:[._']${LETTERS})*(?:(?:\\+\\+|#)(?![\\p{L}\\p{N}]))?)` +
    '|(?<sign>\\p{Extended_Pictographic}|\\p{Regional_Indicator}{2})',
  'gu',
);
const APOSTROPHES = /[’‘ʼʻ＇`]/gu;
const HIDDEN = /[\u00ad\u200b-\u200d\u2060\ufeff]|\ufe0e|\ufe0f/gu;

/** The words of a text in order, in lower case and compatibility form. Takes time in proportion to the text's length. */
export function wordsOf(text: string): Word[] {
  const unified = text.normalize('NFKC').toLowerCase().replace(HIDDEN, '').replace(APOSTROPHES, "'");
  return [...unified.matchAll(PIECES)]
    .flatMap(({ groups }) => {
      if (groups?.spaced !== undefined) return spacedWords(folded(groups.spaced));
      if (groups?.unspaced !== undefined) return [{ kind: 'unspaced' as const, text: groups.unspaced }];
      return [{ kind: 'sign' as const, text: groups?.sign ?? '' }];
    })
    .filter((word) => word.text !== '');
}

/** Latin letters without accents: many people type without them. Other scripts keep their marks. */
function folded(text: string): string {
  if (!/[^\0-\x7f]/.test(text)) return text;
  return text
    .normalize('NFD')
    .replace(/(\p{Script=Latin})\p{M}+/gu, '$1')
    .replace(/ß/gu, 'ss')
    .normalize('NFC');
}

function spacedWords(spaced: string): Word[] {
  if (/[+#]$/.test(spaced)) return [word('name', spaced)];
  const parts = spaced.split(/[._]/).map(withoutApostrophe);
  if (parts.length === 1) return parts.map((part) => word('plain', part));
  if (parts.every((part) => [...part].length === 1)) return [word('plain', parts.join(''))]; // u.s., d.c.
  if (parts.every((part) => /^\p{N}+$/u.test(part))) return [word('name', spaced)]; // 3.14
  const whole = parts.join('').length < LONGEST ? [word('name', spaced)] : [];
  return [...whole, ...parts.map((part) => word('plain', part))];
}

/** it's → it, they're → they, l'eau → eau, o'brien → obrien; nothing of don't, as of the other auxiliary verbs. */
function withoutApostrophe(part: string): string {
  if (!part.includes("'")) return part;
  if (part.endsWith("n't")) return '';
  const base = part.replace(/'(?:s|re|ve|ll|d|m)$/, '');
  return base.replace(/^(?:[cdjlmnst]|qu)'(?=.)/, '').replaceAll("'", '');
}

const word = (kind: Word['kind'], text: string): Word => ({ kind, text: text.slice(0, LONGEST).toWellFormed() });

/** English words too common to find anything by. "us" is missing on purpose: it is also a country. */
const LIST = `
a about above after again against all also am an and any are as at be because been before being below between both but
by can could did do does doing down during each few for from further had has have having he her here hers herself him
himself his how i if in into is it its itself just me more most my myself no nor not now of off on once only or other
our ours ourselves out over own same she should so some such than that the their theirs them themselves then there
these they this those through to too under until up very was we were what when where which while who whom why will with
would you your yours yourself yourselves
`;

export const STOP_WORDS: ReadonlySet<string> = new Set(LIST.trim().split(/\s+/));

/**
 * Remembers what was made of the last texts that something was made of: at most `max`, and of none that is longer. What is
 * made has to follow from the text alone.
 */
export function remembering<T>({ max, length }: { readonly max: number; readonly length: number }) {
  const known = new Map<string, T>();
  return (text: string, make: () => T): T => {
    if (text.length > length) return make();
    const found = known.get(text);
    if (found !== undefined) return found;
    if (known.size >= max) {
      const [oldest = ''] = known.keys();
      known.delete(oldest);
    }
    const made = make();
    known.set(text, made);
    return made;
  };
}

/** A text, or its terms for who compares it often. */
export type Comparable = string | ReadonlySet<string>;

/** How much two texts speak of the same: shared terms among all their terms (Jaccard), 0…1. */
export function overlap(a: Comparable, b: Comparable): number {
  const [left, right] = [setOf(a), setOf(b)];
  const shared = countShared(left, right);
  const all = left.size + right.size - shared;
  return all === 0 ? sameSpelling(a, b) : shared / all;
}

/** How much of the first text is said in the second: its terms found there (containment), 0…1. */
export function containment(part: Comparable, whole: Comparable): number {
  const [asked, given] = [setOf(part), setOf(whole)];
  return asked.size === 0 ? sameSpelling(part, whole) : countShared(asked, given) / asked.size;
}

const setOf = (one: Comparable): ReadonlySet<string> => (typeof one === 'string' ? termSet(one) : one);

function countShared(a: ReadonlySet<string>, b: ReadonlySet<string>): number {
  let shared = 0;
  for (const term of a) if (b.has(term)) shared += 1;
  return shared;
}

/** Texts without any term ("??", "not me") are alike only if they are equal. */
function sameSpelling(a: Comparable, b: Comparable): number {
  return typeof a === 'string' && typeof b === 'string' && normaliseText(a) === normaliseText(b) ? 1 : 0;
}
