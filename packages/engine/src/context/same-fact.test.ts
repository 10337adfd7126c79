import { expect, test } from 'vitest';
import { prepared, saySame } from './items.ts';

const same = (a: string, b: string) => saySame(prepared(a), prepared(b));

test.each([
  ['User lives in Oslo', 'user lives in  Oslo.'],
  ['User likes the green tea from Japan', 'User likes green tea from Japan'],
  ['User works as a software engineer at Acme in Oslo', 'User works as software engineer at Acme in Oslo'],
  ['小明住在上海', '小明住在上海。'],
])('"%s" and "%s" tell the same', (a, b) => {
  expect(same(a, b)).toBe(true);
  expect(same(b, a)).toBe(true);
});

test.each([
  ['User eats meat', 'User does not eat meat'],
  ['User eats meat', 'User no longer eats meat'],
  ['小明吃辣', '小明不吃辣'],
  ['Ann loves Bob', 'Bob loves Ann'],
  ['User flies from Oslo to Lisbon on 3 May at 10:40', 'User flies from Oslo to Lisbon on 3 May at 10:50'],
  ['User lives in Oslo', 'User lives in Rome'],
  ['小明住在上海', '小明住在北京'],
  ['??', '!!'],
])('"%s" and "%s" are two facts', (a, b) => {
  expect(same(a, b)).toBe(false);
  expect(same(b, a)).toBe(false);
});
