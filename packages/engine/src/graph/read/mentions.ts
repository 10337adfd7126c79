import { normaliseText } from '../../text/normalise.ts';
import { STOP_WORDS } from '../../text/terms.ts';

/** Characters of a question in which names are looked for: in a longer one somebody has pasted a document. */
const READ = 1_000;
/** Words of the longest name that is looked for, and characters where a script puts no spaces between words. */
const WORDS_MAX = 4;
const CHARACTERS = { least: 2, most: 6 } as const;
/** Names that are looked up at once: of longer questions those that come first. */
const NAMES_MAX = 256;

/** Everything in a question that may be somebody's or something's name, in the form in which names are compared. */
export function mentionsIn(question: string): readonly string[] {
  const names = new Set<string>();
  const words = normaliseText(question.slice(0, READ)).split(BETWEEN_WORDS).map(withoutSigns).filter(isWord);
  for (const [at, word] of words.entries()) {
    for (const run of word.match(UNSPACED) ?? []) for (const part of partsOf(run)) names.add(part);
    for (let count = 1; count <= WORDS_MAX && at + count <= words.length; count += 1) {
      for (const name of spellings(words.slice(at, at + count))) names.add(name);
    }
  }
  return [...names].slice(0, NAMES_MAX);
}

/** Whether a question is about who asks: their own entity has no name in it. */
export const isAboutSelf = (question: string): boolean => SELF.test(normaliseText(question.slice(0, READ)));

const SELF = /(?<![\p{L}\p{N}])(?:i|me|my|mine|myself|the user)(?![\p{L}\p{N}])|我|本人/u;

const BETWEEN_WORDS = /[\s,;:!?()[\]{}"“”„«»…。、，；：！？（）「」『』《》]+/u;
const UNSPACED = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Thai}\u30fc]+/gu;
const POSSESSIVE = /['’](?:s)?$/u;

const withoutSigns = (word: string): string => word.replace(/^[.'’\-/]+/u, '').replace(/[.\-/]+$/u, '');
const isWord = (word: string): boolean => word !== '';

/** As it stands there, and without what says whose something is: "ana's" may be Ana, "levi's" may be Levi's. */
function spellings(words: readonly string[]): string[] {
  if (words.every((word) => STOP_WORDS.has(word))) return [];
  const name = words.join(' ');
  const bare = name.replace(POSSESSIVE, '');
  return bare === name || bare === '' ? [name] : [name, bare];
}

function partsOf(run: string): string[] {
  const characters = [...run];
  const lengths = Array.from({ length: CHARACTERS.most - CHARACTERS.least + 1 }, (_, i) => CHARACTERS.most - i);
  return characters.flatMap((_, at) =>
    lengths.flatMap((length) => {
      const part = characters.slice(at, at + length);
      return part.length === length ? [part.join('')] : [];
    }),
  );
}
