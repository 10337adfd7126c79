import { expect, it } from 'vitest';
import { echoesSystem } from './junk.ts';

const SYSTEM =
  'You are Max, a friendly cooking assistant of FreshFood. Give short answers. The user is Ana, a vegetarian from Lisbon. 用户住在上海，喜欢吃辣的。';
const echoes = (text: string, heard: readonly string[], quote: string | null = null) =>
  echoesSystem({ text, quote }, { system: [SYSTEM], heard });

it.each([
  ['User is Ana, a vegetarian from Lisbon', ['What can I cook?']],
  ['User is a vegetarian', ['What can I cook with eggs?']],
  ['Max is a friendly cooking assistant of FreshFood', ['I love cooking']],
  ['用户住在上海', ['今天吃什么？']],
])('%s repeats the system prompt', (fact, heard) => {
  expect(echoes(fact, heard)).toBe(true);
});

it.each([
  ['User is a vegetarian', ['I am a vegetarian now'], null],
  ["User's name is Ana", ["I'm Ana"], null],
  ['User eats no meat', ['I eat no meat'], null],
  ['User lives in Oslo', ['Oslo is where I live'], null],
  ['User is from Lisbon', ['that is right, from there'], 'from there'],
  ['用户住在上海', ['我住在上海'], null],
] as const)('%s was said', (fact, heard, quote) => {
  expect(echoes(fact, heard, quote)).toBe(false);
});

it('without a system prompt nothing repeats it', () => {
  expect(echoesSystem({ text: 'User is Ana', quote: null }, { system: [], heard: [] })).toBe(false);
});
