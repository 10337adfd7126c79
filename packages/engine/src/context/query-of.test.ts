import { expect, test } from 'vitest';
import { queryOf } from './assemble.ts';

const user = (text: string) => ({ role: 'user', text });
const assistant = (text: string) => ({ role: 'assistant', text });
const LONG = 'Which restaurants in Oslo serve vegetarian sushi on Sundays?';

test('the last message of the user asks', () => {
  expect(queryOf([user('I like tea'), assistant('Fine'), user(LONG)])).toBe(LONG);
});

test('a short one is read with what the user said before, a few messages at most', () => {
  expect(queryOf([user(LONG), assistant('In Oslo or Bergen?'), user('yes, Oslo')])).toBe(`${LONG}\nyes, Oslo`);
  expect(queryOf(['one', 'two', 'three', 'four'].map(user))).toBe('two\nthree\nfour');
  expect(queryOf([user('我住在上海,喜欢吃辣的'), user('好')])).toBe('我住在上海,喜欢吃辣的\n好');
});

test('where the user said nothing, what others said asks; the system never does', () => {
  expect(queryOf([{ role: 'system', text: 'Be nice' }, assistant(LONG)])).toBe(LONG);
  expect(queryOf([{ role: 'system', text: 'Be nice' }, user(' \n')])).toBeNull();
  expect(queryOf([])).toBeNull();
});

test('of a very long message its end asks', () => {
  expect(queryOf([user(`${'x '.repeat(100_000)}what is my name?`)])).toMatch(/^(x )+what is my name\?$/);
});
