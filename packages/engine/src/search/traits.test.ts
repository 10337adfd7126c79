import { describe, expect, it, test } from 'vitest';
import { readText } from './read-text.ts';
import { aboutOthers } from './subjects.ts';
import { lacksWanted, withoutAsker } from './traits.ts';

test.each([
  ['Where does she live?', 'User lives in Oslo', false],
  ['Where does she live?', "User's brother Tom lives in Oslo", true],
  ['Where does she live?', 'Brother Tom lives in Oslo', true],
  ['Where does my sibling live?', "Ann's brother Tom lives in Oslo", false],
  ['Where does my sibling live?', 'Ann lives in Oslo', true],
  ['What does her dad do?', "User's mother works as a nurse", true],
  ['What does her best friend do?', "User's friend Ida works as a nurse", false],
  ['Who is my brother?', 'User has a brother called Tom', false],
  ['Does Tom play tennis, as I do?', "User's brother Tom plays tennis", false],
  ['What does my wife play?', "User's wife Aroha plays the oboe", false],
  ['What does she play?', "User's wife Aroha plays the oboe", true],
  ["What does my wife's brother play?", "User's wife Aroha plays the oboe", false],
  ['What does her colleague Ida play?', "User's colleague Rune plays the oboe", true],
  ['What does her colleague Ida play?', 'Ida plays the oboe', false],
  ['Who supervises her?', "User's boss is Ingrid", false],
  ['Who is her wife?', 'User is married to Ingrid', false],
  ['Who plays the oboe?', "User's brother Tom plays the oboe", false],
])('%j, with %j: of others %j', (question, text, others) => {
  expect(aboutOthers(question)(readText(text))).toBe(others);
});

test.each([
  ['When does she swim?', 'swims on Mondays', false],
  ['When does she swim?', 'swims in the lake', true],
  ['At what time is the standup?', 'joins the standup at 9:15', false],
  ['How many beehives are there?', 'has three beehives', false],
  ['How many beehives are there?', 'keeps bees', true],
  ['Where does she camp?', 'camps near Bled', false],
  ['Where does she camp?', 'hates tents', true],
  ['Who trims Ziggy?', 'has Ziggy trimmed', false],
  ['Who is her mentor?', 'is a mentor', true],
  ['Which tea does she drink?', 'hates tents', false],
  ['她什么时候跑步？', '每周五早上去公园跑步', false],
  ['她什么时候跑步？', '喜欢喝茶', true],
])('%j, told %j: lacks what is wanted %j', (question, text, lacks) => {
  expect(lacksWanted(question)?.(text) ?? false).toBe(lacks);
});

describe('what a question asks for', () => {
  it.each([
    ['What does she do for a living?', 'What do for a living'],
    ['Where am I going on holiday?', 'Where going on holiday'],
    ['Who is his manager?', 'Who is manager'],
    ['What did their neighbour say to them?', 'What did neighbour say to'],
    ['Which vaccine has Ann had?', 'Which vaccine has Ann had'],
    ['tea or coffee', 'tea or coffee'],
    ['她住在哪里', '她住在哪里'],
    ['Iwona likes hermit crabs', 'Iwona likes hermit crabs'],
  ])('%s', (question, asked) => {
    expect(withoutAsker(question)).toBe(asked);
  });

  it.each(['Who is she?', 'Where am I?', 'she', 'What is his?', '', '??'])(
    '%s stays as it is: nothing else is said',
    (question) => {
      expect(withoutAsker(question)).toBe(question);
    },
  );
});
