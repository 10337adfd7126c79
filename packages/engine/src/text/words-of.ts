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
