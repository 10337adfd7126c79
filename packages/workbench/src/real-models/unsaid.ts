/**
 * The content words of a text that stand in none of what was said. Stricter than the product's own check and made of other
 * parts, so that it finds what that one lets through: each word counts, by itself, and no share of them is enough.
 */
export function unsaidIn(text: string, said: readonly string[]): readonly string[] {
  const heard = new Set(said.flatMap(wordsOf));
  return wordsOf(text).filter((word) => !FRAME.has(word) && !heard.has(word) && !isForm(word, heard));
}

/** So many words in a row that a text says twice; null where it does not. */
export function repeatedIn(text: string): string | null {
  const words = wordsOf(text);
  const rows = words.slice(REPEATED - 1).map((_, at) => words.slice(at, at + REPEATED).join(' '));
  return rows.find((row, at) => rows.indexOf(row) < at) ?? null;
}

const REPEATED = 4;

/** Words in lower case; where a script writes none, its signs. */
const wordsOf = (text: string): readonly string[] =>
  text
    .normalize('NFKC')
    .toLowerCase()
    .match(/[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}]|[\p{L}\p{M}\p{N}]+/gu) ?? [];

/** Of two forms of a word so much is alike at the beginning, and neither has more letters than this behind it. */
const STEM_MIN = 3;
const ENDING_MAX = 4;

function isForm(word: string, heard: ReadonlySet<string>): boolean {
  return [...heard].some((other) => {
    let alike = 0;
    while (alike < word.length && word[alike] === other[alike]) alike += 1;
    const endings = Math.max(word.length, other.length) - alike;
    return alike >= STEM_MIN && endings <= Math.min(ENDING_MAX, alike - 1) && !/\d/.test(word + other);
  });
}

/** How facts are written in the languages of the conversations: what says nothing by itself. */
const FRAME: ReadonlySet<string> = new Set(
  [
    'user users s t a an the of to in on at and or with for from by as is are was were has have had be been being',
    'i my me we our their they them he she his her it its that this no not do does longer any',
    'lives living likes works job wants wanted forgotten',
    'nutzer nutzers der die das des den ein eine einer in im seit ist sind hat und wohnt arbeitet',
    'utilisateur utilisatrice l la le les un une de du des est a et en depuis dans',
    'el la los las un una de del usuario usuaria es está en y tiene con vive trabaja se su',
    'o a os as um uma de do da usuário é tem e',
    '用 户 的 了 是 在 有 和 ユ ー ザ は が の で を に',
  ].flatMap((line) => line.split(' ')),
);
