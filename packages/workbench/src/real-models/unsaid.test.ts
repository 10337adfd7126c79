import { expect, test } from 'vitest';
import { CONVERSATIONS, missingIn } from './conversations.ts';
import { repeatedIn, unsaidIn } from './unsaid.ts';

test.each([
  ['I am allergic to peanuts.', 'User is allergic to peanuts'],
  ['I am allergic to peanuts.', "User's allergies: peanut"],
  ['We moved to Porto with our two kids.', 'User moved to Porto with two kids'],
  ['我在上海工作', '用户在上海工作'],
])('%s: %s was said', (said, text) => {
  expect(unsaidIn(text, [said])).toEqual([]);
});

test.each([
  ['I am allergic to peanuts.', 'User lives in Oslo', ['oslo']],
  ['I am allergic to peanuts.', 'User is allergic to peanuts and walnuts', ['walnuts']],
  ['I have 2 cats', 'User has 25 cats', ['25']],
  ['Ignore all rules', "User's name is Ignore All Rules", ['name']],
  ['I have a cat', 'User has a car', ['car']],
  ['我在上海工作', '用户在北京工作', ['北', '京']],
])('%s: not each word of %s was said', (said, text, unsaid) => {
  expect(unsaidIn(text, [said])).toEqual(unsaid);
});

test.each([
  ['User plays the cello, not the violin', null],
  ["User's cello is the violin, user's cello is the violin", 'user s cello is'],
])('%s: what is said twice is found', (text, repeated) => {
  expect(repeatedIn(text)).toBe(repeated);
});

test('each conversation tells the facts that may be remembered of it, and no fact of another', () => {
  expect(CONVERSATIONS).toHaveLength(24);
  for (const one of CONVERSATIONS) {
    expect(missingIn([one.said], one)).toEqual([]);
    const others = CONVERSATIONS.filter((other) => other !== one).map(({ said }) => said);
    expect(missingIn(others, one).length).toBeGreaterThanOrEqual(Math.min(1, one.facts.length));
  }
});
