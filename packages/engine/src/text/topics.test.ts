import { expect, test } from 'vitest';
import { topicsOf } from './topics.ts';

test.each([
  ['What does she do for a living?', 'Works as a nurse', 'work'],
  ['Which pets does he own?', 'User adopted a tabby', 'pet'],
  ['How does she commute?', 'Takes the number 4 tram to the office', 'commute'],
  ['有宠物吗？', '家里养了一只橘猫', 'pet'],
])('%j and %j are about the same', (question, text, topic) => {
  expect([topicsOf(question).get(topic), topicsOf(text).get(topic)]).toEqual([1, 1]);
});

test('a word that many things are told with only points to a topic', () => {
  expect(topicsOf('User takes the bins out in the morning').get('waking')).toBeLessThan(1);
  expect(topicsOf('When does the alarm ring?').get('waking')).toBe(1);
});

test('a phrase is not read word by word: who works for a living need not live there', () => {
  expect(topicsOf('for a living').has('residence')).toBe(false);
});

test('a text about nothing that is known has no topic', () => {
  expect(topicsOf('The quaternion overflows').size).toBe(0);
  expect(topicsOf('').size).toBe(0);
});
