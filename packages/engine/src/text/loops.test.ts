import { describe, expect, it } from 'vitest';
import { loopIn, mayLoop, REPEATED_SHOWS_IN, repeatedAtEnd } from './loops.ts';

describe('a text that ends in a loop', () => {
  it.each([
    ["User's cello is the violin, not the violin, user's cello is the violin, user's cello is…", 'user s cello is'],
    ["User's cello is the violin, not the violin, user's cello is the violin, user's cello is… the", 'user s cello is'],
    ['User is a nurse, user is a nurse, user is a nurse', 'user is a nurse'],
    ['Nutzer mag Tee und Nutzer mag Tee und ... Nutzer', 'nutzer mag tee und'],
    ["User's name is Ana. User's name is Ana.", 'user s name is ana'],
    ["I'm not sure I'm not sure I'm not", 'i m not sure'],
    ['User likes tea, tea, tea, tea, tea, tea', 'tea'],
    [
      "User thinks it's a joke about the fact that it's not a joke about itself. It's a joke about the fact that it's a joke about itself.",
      'a joke about itself',
    ],
    ['Nutzer mag Tee und Nutzer mag Tee und', 'nutzer mag tee und'],
    ['用户喜欢苹果，用户喜欢苹果', '用户喜欢苹果'],
  ])('%s', (text, within) => {
    expect(mayLoop(text)).toBe(true);
    expect(loopIn(text)).toContain(within.split(' ').at(-1));
  });

  it.each([
    'User works from 9 to 5 on Mondays and from 9 to 5 on Tuesdays',
    'User takes 5 mg of lisinopril in the morning and 5 mg of lisinopril in the evening',
    "User lives in New York and user's wife lives in New York",
    "User's son is named Max and his dog is named Max",
    'User works at the University of California, and so did her father, at the University of California',
    'User says no, no, no',
    'User waits for the bus... and for the bus… daily',
    'User likes tea, tea, tea and more tea',
    'User lives in Walla Walla',
    "User's favourite band is Duran Duran",
    'User likes coffee more than tea, but his wife likes tea more than coffee',
    '用户住在北京，用户的妻子也住在北京',
    '用户的孩子笑哈哈',
    'User',
    '',
  ])('says something to its end: %s', (text) => {
    expect(loopIn(text)).toBeNull();
  });
});

const fact = (i: number): string =>
  JSON.stringify({ text: `User has met friend number ${i}`, source_ids: [`m${i}`], quote: `I met friend ${i}` });
const numbers = (count: number): readonly number[] => Array.from({ length: count }, (_, i) => i);
/** Different facts, as many as an answer may have. */
const FACTS = `{"facts":[${numbers(1_000).map(fact).join(',')}`;
const once = (count: number): string => `${numbers(count).map(fact).join(',')},`;

describe('an answer repeats itself without an end', () => {
  it.each<[string, string]>([
    ['of a few words', `{"facts":[{"text":"${"I'm not sure ".repeat(100)}`],
    ['of a few words, cut off inside of them', `${"I'm not sure ".repeat(100)}I'm n`],
    ['of one character', `{"facts":[${'\n'.repeat(1_200)}`],
    ['of a fact', `{"facts":[${`${fact(1)},`.repeat(20)}`],
    ['of a dozen facts', `{"facts":[${once(12).repeat(7)}`],
    ['in another script', `<think>${'我不确定，再想一想。'.repeat(150)}`],
    ['behind many facts that differ', `${FACTS},${`${fact(7)},`.repeat(20)}`],
  ])('%s', (_name, text) => {
    const loop = repeatedAtEnd(text);
    expect(text.endsWith(loop ?? '–')).toBe(true);
    expect(loop?.length).toBeGreaterThanOrEqual(1_200);
    expect(loop?.length).toBeLessThanOrEqual(REPEATED_SHOWS_IN);
  });
});

describe('an answer does not repeat itself, or comes to its end', () => {
  const operations = numbers(1_000).map((i) =>
    JSON.stringify({ fact: `f${i}`, event: 'NONE', id: `${i}`, text: null }),
  );
  it.each<[string, string]>([
    ['without a character', ''],
    ['of one character', 'x'],
    ['of facts that differ', FACTS],
    ['of operations that differ in their ids', `{"operations":[${operations.join(',')}`],
    ['with a line of dashes', `| name | town |\n${'-'.repeat(500)}`],
    ['with laughter', `{"facts":[{"quote":"${'ha '.repeat(300)}`],
    ['that says a fact five times', `{"facts":[${`${fact(1)},`.repeat(5)}`],
    ['that says two thousand words five times', once(40).repeat(5)],
    ['that has left its loop', `{"facts":[${`${fact(1)},`.repeat(30)}${fact(2)}`],
    ['that came to its end', `{"facts":[${`${fact(1)},`.repeat(30)}${fact(1)}]}`],
    ['whose numbers rise', numbers(2_000).join(',')],
  ])('%s', (_name, text) => {
    expect(repeatedAtEnd(text)).toBeNull();
  });
});
