import { expect, test } from 'vitest';
import { isAboutSelf, mentionsIn } from './paths.ts';

test.each([
  ['What does Ana’s sister do?', ['ana', 'sister', 'ana’s sister']],
  ["Where do the Bea Linds and Ana's dogs live?", ['bea linds', 'ana', "ana's"]],
  ['Does she work at Acme Corp., or at Node.js?', ['acme corp', 'node.js', 'acme']],
  ['Who shops at McDonald’s?', ['mcdonald’s', 'mcdonald']],
  ['小明的妹妹住在哪里？', ['小明', '妹妹']],
  ['Who is “Ana Lopez”?', ['ana lopez', 'ana', 'lopez']],
])('%s may name %j', (question, names) => {
  const found = mentionsIn(question);
  for (const name of names) expect(found).toContain(name);
});

test('what says nothing names nobody', () => {
  expect(mentionsIn('what was it?')).toEqual([]);
  expect(mentionsIn('')).toEqual([]);
});

test('of a long text only so much is looked up, and fast', () => {
  expect(mentionsIn('word '.repeat(5_000)).length).toBeLessThan(300);
  expect(mentionsIn('北'.repeat(5_000)).length).toBeLessThan(300);
});

test.each([
  ['Where does my sister live?', true],
  ["I'm asking where Ana lives", true],
  ['what does the user like', true],
  ['我妹妹住在哪里', true],
  ['Where is Miami?', false],
  ['Where does Ana live?', false],
])('%s is about who asks: %s', (question, about) => {
  expect(isAboutSelf(question)).toBe(about);
});
