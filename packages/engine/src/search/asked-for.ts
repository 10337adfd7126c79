import { remembering, termSet, terms } from '../text/terms.ts';

// What a question asks for: whom it is about, what kind of thing it wants, and what of it only asks.

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
interface Subject {
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
  return remembered(text, () => {
    const found = TOLD.exec(text);
    return { subject: found === null ? null : subjectOf(found) };
  }).subject;
}

/** The same texts are asked about again and again, several times for one question. */
const remembered = remembering<{ readonly subject: Subject | null }>({ max: 10_000, length: 1_000 });

const subjectOf = ([phrase, word, name]: RegExpExecArray): Subject => ({
  kin: kinOf(word),
  name: name ?? null,
  phrase,
});

/**
 * Whether a fact is about somebody else than a question: the question names one of theirs whom the fact does not mention, or the
 * fact tells of one of theirs whom the question does not name.
 */
export function aboutOthers(question: string): (text: string) => boolean {
  const asked = askedAbout(question);
  if (asked !== null) return (text) => !isAbout(asked, text);
  if (!OF_SOMEBODY.test(question)) return () => false;
  const words = termSet(question);
  return (text) => {
    const told = toldAbout(text);
    return told !== null && !(told.name !== null && isAmong(told.name, words));
  };
}

function isAbout({ kin, name }: Subject, text: string): boolean {
  const told = toldAbout(text);
  if (told?.name != null && name !== null) return isAmong(name, termSet(told.name));
  if (name !== null && isAmong(name, termSet(text))) return true;
  const theirs = told?.kin ?? mentioned(text);
  return theirs.some((one) => kin.includes(one));
}

const isAmong = (name: string, words: ReadonlySet<string>): boolean =>
  [...termSet(name)].some((term) => words.has(term));

const kinOf = (word: string | undefined): readonly string[] => KIN[word?.toLowerCase() ?? ''] ?? [];

const mentioned = (text: string): readonly string[] => [...text.matchAll(MENTIONED)].flatMap(([word]) => kinOf(word));

/** What a question wants to be told, and how a text shows that it tells such a thing. */
interface Wanted {
  readonly asks: RegExp;
  readonly tells: RegExp;
}

const TIME: Wanted = {
  asks: /\b(?:when|how often|how soon|what (?:date|day|month|year|time)|which (?:day|month|year))\b|什么时候|何时|哪[一]?[天年月日]|几[点号月]|多久|多长时间|いつ|何[時日年月]|언제/iu,
  tells:
    /\b(?:yesterday|today|tonight|tomorrow|ago|last|next|weekend|weeks?|months?|years?|(?:mon|tues|wednes|thurs|fri|satur|sun)days?|january|february|march|april|may|june|july|august|september|october|november|december|spring|summer|autumn|winter|since|recently|morning|noon|afternoon|evening|night|midnight|daily|weekly|monthly|[ap]m)\b|\d{4}|\d:\d\d|\b\d{1,2}(?:st|nd|rd|th)\b|\bat \d|昨[天日晚]|今[天日年晚]|明[天年]|前[天年]|去年|[上下每][周个天年]|早上|晚上|[年月日号点]|きのう|先[週月]|来[週月]|어제|오늘|내일/iu,
};

/** Also asked for: times, by how long. */
const AMOUNT: Wanted = {
  asks: /\bhow (?:many|much|old|long|tall|far|high|big|large|often|heavy|fast|expensive)\b/iu,
  tells:
    /\p{N}|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|thirteen|fourteen|fifteen|sixteen|twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety|hundred|thousand|half|once|twice|dozen|several)\b/iu,
};

const PLACE: Wanted = {
  asks: /\b(?:where|which (?:city|town|country|place))\b/iu,
  tells: /\b(?:in|at|to|from|near|on|by|off|under|behind|into|around)\s+(?:the\s+|an?\s+)?\p{L}/iu,
};

const PERSON: Wanted = { asks: /\b(?:who|whom|whose)\b/iu, tells: /\s\p{Lu}\p{Ll}/u };

/** The first that fits counts: at what time somebody meets whom is a question for a time. */
const KINDS = [TIME, AMOUNT, PLACE, PERSON];

/** Whether a text lacks the kind of thing that a question wants: a day, a number, a place, a name. Of other questions nothing is known. */
export function lacksWanted(question: string): (text: string) => boolean {
  const kind = KINDS.find(({ asks }) => asks.test(question));
  return kind === undefined ? () => false : (text) => !kind.tells.test(text);
}

export const asksTime = (question: string): boolean => TIME.asks.test(question) || /\bhow long\b/iu.test(question);
export const tellsTime = (text: string): boolean => TIME.tells.test(text);

/** Who asks, or is asked about without a name, with the verb that only asks. */
const ASKER = /\b(?:(?:does|do|did|is|are|am|was|were|has|have|had)\s+)?(?:she|he|they|I)\b\s*/giu;
const MARK = /\s*[?？]+\s*$/u;
const ASKERS_OWN = /\b(?:her|his|my|their|him|me|them)\b\s*/giu;

/**
 * What a question asks for, without words for who asks, and without its mark: of "What does she do for a living?" it is "What do for a living". To a
 * model's vectors these words are as much as the others, though all that is known of somebody is about them. It knows English
 * alone. "Who is she?" asks for nothing else, and stays as it is.
 */
export function withoutAsker(question: string): string {
  const left = question.replace(ASKER, '').replace(ASKERS_OWN, '').replace(MARK, '');
  return terms(left).length === 0 ? question : left;
}
