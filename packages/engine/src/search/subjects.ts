import { termSet } from '../text/terms.ts';
import type { ReadText } from './read-text.ts';

// Whom a question is about, and whom a text is about.

/** Words for people whom somebody speaks of as theirs, and which of them are the same. */
const KIN: Readonly<Record<string, readonly string[]>> = {
  ...alike('mother mum mom mummy mommy mama', 'mother'),
  ...alike('father dad daddy papa', 'father'),
  ...alike('parent parents', 'mother', 'father'),
  ...alike('brother', 'brother'),
  ...alike('sister', 'sister'),
  ...alike('sibling siblings', 'brother', 'sister'),
  ...alike('son boy', 'son'),
  ...alike('daughter girl', 'daughter'),
  ...alike('kid child', 'son', 'daughter'),
  ...alike('grandmother grandma gran granny nana', 'grandmother'),
  ...alike('grandfather grandpa grandad granddad', 'grandfather'),
  ...alike('grandparent', 'grandmother', 'grandfather'),
  ...alike('grandson', 'grandson'),
  ...alike('granddaughter', 'granddaughter'),
  ...alike('grandchild', 'grandson', 'granddaughter'),
  ...alike('aunt auntie', 'aunt'),
  ...alike('uncle', 'uncle'),
  ...alike('cousin', 'cousin'),
  ...alike('nephew', 'nephew'),
  ...alike('niece', 'niece'),
  ...alike('relative', 'aunt', 'uncle', 'cousin', 'nephew', 'niece', 'grandmother', 'grandfather'),
  ...alike('stepmother stepmum stepmom', 'stepmother'),
  ...alike('stepfather stepdad', 'stepfather'),
  ...alike('stepson', 'stepson'),
  ...alike('stepdaughter', 'stepdaughter'),
  ...alike('stepbrother', 'stepbrother'),
  ...alike('stepsister', 'stepsister'),
  ...alike('wife', 'wife'),
  ...alike('husband', 'husband'),
  ...alike('girlfriend', 'girlfriend'),
  ...alike('boyfriend', 'boyfriend'),
  ...alike('fiance fiancee', 'fiance'),
  ...alike('spouse partner', 'wife', 'husband', 'girlfriend', 'boyfriend', 'fiance', 'partner'),
  ...alike('friend buddy pal mate', 'friend'),
  ...alike('colleague coworker', 'colleague'),
  ...alike('neighbour neighbor', 'neighbour'),
  ...alike('boss manager', 'boss'),
  ...alike('flatmate roommate housemate', 'flatmate'),
};

function alike(words: string, ...kin: readonly string[]): Record<string, readonly string[]> {
  return Object.fromEntries(words.split(' ').map((word) => [word, kin]));
}

const WORD = Object.keys(KIN)
  .map((word) => `[${word.charAt(0)}${word.charAt(0).toUpperCase()}]${word.slice(1)}`)
  .join('|');
const WHICH =
  '(?:(?:[Bb]est|[Oo]ld|[Oo]lder|[Ee]lder|[Bb]ig|[Ll]ittle|[Yy]oung|[Yy]ounger|[Gg]ood|[Cc]lose|[Ee]x)[\\s-]+)?';
const THEIRS = `${WHICH}(${WORD})(?:-in-law)?(?![\\p{L}-])`;
const NAME = ',?\\s+(\\p{Lu}[\\p{L}-]+)';

/** Her brother, Ann's mum Helga: whom a question is about. */
const ASKED = new RegExp(
  `(?<!\\p{L})(?:[Hh]er|[Hh]is|[Mm]y|[Tt]heir|[Yy]our|[Oo]ur|[Tt]he|\\p{L}+['’]s)\\s+${THEIRS}(?:${NAME})?(?:['’]s)?`,
  'u',
);
/** Her boss is Tom: it is about her. */
const WHO_IT_IS = '\\s+(?:is|was)\\s+(?:called\\s+|named\\s+)?\\p{Lu}';
/** Ann's brother Tom lives …, Brother Tom lives …: whom a fact is about. */
const TOLD = new RegExp(
  `^\\s*(?:(?:[Tt]he\\s+)?\\p{L}+['’]s\\s+|(?:[Hh]er|[Hh]is|[Mm]y|[Tt]heir)\\s+)?${THEIRS}(?:${NAME}|(?!${WHO_IT_IS}))`,
  'u',
);
const MENTIONED = new RegExp(`(?<!\\p{L})(${WORD})(?!\\p{L})`, 'gu');
/** Who is my brother: asks for them, not about them. */
const WHO_THEY_ARE = /^\s*(?:who|what is the name of)\b/iu;
/** Asks about somebody, and not who it is. */
const OF_SOMEBODY = /\b(?:i|me|my|she|her|he|him|his|they|them|their|we|our|you|your|user|user's)\b/iu;

/** One of somebody's, of whom a text speaks: "her brother Tom". */
export interface Subject {
  readonly kin: readonly string[];
  readonly name: string | null;
  /** How the text names them. */
  readonly phrase: string;
}

/** Whom a question is about, if it is about one of somebody's. */
export function askedAbout(question: string): Subject | null {
  const found = ASKED.exec(question);
  if (found === null) return null;
  const asksWhoTheyAre = WHO_THEY_ARE.test(question) && !/\p{L}/u.test(question.slice(found.index + found[0].length));
  return asksWhoTheyAre ? null : subjectOf(found);
}

/** Whom a fact is about, if it is about one of somebody's. */
export function toldAbout(text: string): Subject | null {
  const found = TOLD.exec(text);
  return found === null ? null : subjectOf(found);
}

const subjectOf = ([phrase, word, name]: RegExpExecArray): Subject => ({
  kin: kinOf(word),
  name: name ?? null,
  phrase,
});

/**
 * Whether a fact is about somebody else than a question: the question names one of theirs whom the fact does not mention, or the
 * fact tells of one of theirs whom the question does not name.
 */
export function aboutOthers(question: string): (read: ReadText) => boolean {
  const asked = askedAbout(question);
  if (asked !== null) return (read) => !isAbout(asked, read);
  if (!OF_SOMEBODY.test(question)) return () => false;
  const words = termSet(question);
  return ({ told }) => told !== null && !(told.name !== null && isAmong(told.name, words));
}

function isAbout({ kin, name }: Subject, { told, terms, text }: ReadText): boolean {
  if (told?.name != null && name !== null) return isAmong(name, termSet(told.name));
  if (name !== null && isAmong(name, terms)) return true;
  const theirs = told?.kin ?? mentioned(text);
  return theirs.some((one) => kin.includes(one));
}

const isAmong = (name: string, words: ReadonlySet<string>): boolean =>
  [...termSet(name)].some((term) => words.has(term));

const kinOf = (word: string | undefined): readonly string[] => KIN[word?.toLowerCase() ?? ''] ?? [];

const mentioned = (text: string): readonly string[] => [...text.matchAll(MENTIONED)].flatMap(([word]) => kinOf(word));
