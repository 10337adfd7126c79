import { describe, expect, it } from 'vitest';
import { loopIn, mayLoop } from './loops.ts';

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
