import { termSet } from '../text/terms.ts';

/** Words for people whom somebody speaks of as theirs, and which of them are the same. */
const KIN: Readonly<Record<string, readonly string[]>> = {
  mother: ['mother'],
  mum: ['mother'],
  mom: ['mother'],
  father: ['father'],
  dad: ['father'],
  parent: ['mother', 'father'],
  parents: ['mother', 'father'],
  brother: ['brother'],
  sister: ['sister'],
  sibling: ['brother', 'sister'],
  siblings: ['brother', 'sister'],
  son: ['son'],
  boy: ['son'],
  daughter: ['daughter'],
  girl: ['daughter'],
  kid: ['son', 'daughter'],
  child: ['son', 'daughter'],
  grandmother: ['grandmother'],
  grandma: ['grandmother'],
  gran: ['grandmother'],
  grandfather: ['grandfather'],
  grandpa: ['grandfather'],
  grandad: ['grandfather'],
  aunt: ['aunt'],
  uncle: ['uncle'],
  cousin: ['cousin'],
  nephew: ['nephew'],
  niece: ['niece'],
  relative: ['aunt', 'uncle', 'cousin', 'nephew', 'niece', 'grandmother', 'grandfather'],
  friend: ['friend'],
  buddy: ['friend'],
  pal: ['friend'],
};
const WORD = Object.keys(KIN).join('|');
const WHICH = '(?:(?:best|old|older|elder|big|little|young|younger|good|close)\\s+)?';

/** Her brother, Ann's mum: whom a question is about. */
const ASKED = new RegExp(`\\b(?:her|his|my|their|your|our|the|[\\p{L}]+['’]s)\\s+${WHICH}(${WORD})(?!\\p{L})`, 'iu');
/** Ann's brother Tom lives …, Brother Tom lives …: whom a fact is about. */
const TOLD = new RegExp(
  `^(?:\\p{L}+['’]s\\s+|(?:her|his|my|their)\\s+)?${WHICH}(${WORD})(?!\\p{L})(?:\\s+(\\p{Lu}[\\p{L}-]+))?`,
  'iu',
);
const MENTIONED = new RegExp(`(?<!\\p{L})(${WORD})(?!\\p{L})`, 'giu');
/** Asks about somebody, and not who it is. */
const OF_SOMEBODY = /\b(?:i|me|my|she|her|he|him|his|they|them|their|we|our|you|your|user|user's)\b/iu;

/**
 * Whether a fact is about somebody else than a question: the question names one of theirs whom the fact does not mention, or the
 * fact tells of one of theirs whom the question does not name.
 */
export function aboutOthers(question: string): (text: string) => boolean {
  const asked = kinOf(ASKED.exec(question)?.[1]);
  if (asked.length > 0) return (text) => !mentioned(text).some((kin) => asked.includes(kin));
  if (!OF_SOMEBODY.test(question)) return () => false;
  const words = termSet(question);
  return (text) => {
    const [, word, name] = TOLD.exec(text) ?? [];
    if (word === undefined) return false;
    return name === undefined || ![...termSet(name)].some((term) => words.has(term));
  };
}

const kinOf = (word: string | undefined): readonly string[] => KIN[word?.toLowerCase() ?? ''] ?? [];

const mentioned = (text: string): readonly string[] => [...text.matchAll(MENTIONED)].flatMap(([word]) => kinOf(word));
