import { expect, test } from 'vitest';
import { lacksWanted } from './wanted.ts';

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
  expect(lacksWanted(question)(text)).toBe(lacks);
});
