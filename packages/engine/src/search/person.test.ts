import { expect, test } from 'vitest';
import { aboutOthers } from './person.ts';

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
  expect(aboutOthers(question)(text)).toBe(others);
});
