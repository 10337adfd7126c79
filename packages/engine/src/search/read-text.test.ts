import { array, assert as check, constantFrom, integer, property } from 'fast-check';
import { expect, test } from 'vitest';
import { overlapsBy, termSet } from '../text/terms.ts';
import { topicsOf } from '../text/topics.ts';
import { alikeBy, readText } from './read-text.ts';

const WORDS = [
  'nurse',
  'Oslo',
  'tea',
  'teas',
  'beagle',
  'allergic',
  'peanuts',
  'Middlemarch',
  '北京',
  'node.js',
  'balcony',
];
const text = array(constantFrom(...WORDS), { maxLength: 24 }).map((words) => words.join(' '));

test('marks never tell apart what has so much in common', async () => {
  await check(
    property(text, text, integer({ min: 1, max: 10 }), (one, other, tenths) => {
      const least = tenths / 10;
      expect(alikeBy(least, readText(one), readText(other))).toBe(overlapsBy(least, termSet(one), termSet(other)));
    }),
    { numRuns: 2_000 },
  );
});

test('what a text is about is read behind whom it is about', () => {
  const { told, topics } = readText("User's wife plays the oboe");
  expect(told?.kin).toEqual(['wife']);
  expect(topics).toEqual(topicsOf(' plays the oboe'));
  expect(topics.has('spouse')).toBe(false);
});
