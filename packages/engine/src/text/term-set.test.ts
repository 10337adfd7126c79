import { expect, test } from 'vitest';
import { termSet, terms } from './terms.ts';

test('a text has the same terms each time, however many others were asked for in between', () => {
  const text = 'Ana runs along the river; she ran yesterday, too. 她住在北京';
  const first = termSet(text);
  expect([...first]).toEqual([...new Set(terms(text))]);
  expect(termSet(text)).toBe(first);
  for (let i = 0; i < 11_000; i += 1) termSet(`text ${i}`);
  expect(termSet(text)).not.toBe(first);
  expect(termSet(text)).toEqual(first);
});
