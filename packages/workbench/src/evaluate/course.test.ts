import { expect, test } from 'vitest';
import { courseOf } from './course.ts';
import { readWorld } from './world.ts';

const at = (minute: number): string => `2026-03-01T09:0${minute}:00.000Z`;
const worldOf = (batches: readonly (readonly string[])[], goldFinal: readonly string[]) =>
  readWorld(
    JSON.stringify({
      batches: batches.map((texts, i) => ({ at: at(i), messages: texts.map((content) => ({ content })) })),
      goldFinal,
    }),
  );

test('what was replaced belongs to the later text that begins alike', () => {
  const course = courseOf(
    worldOf(
      [
        ['The capital of Atlantis is Poseidonis.', 'The capital of Lemuria is Mu.'],
        ['The capital of Atlantis is Mu.', 'The chief of Atlantis is Mu.'],
      ],
      ['The capital of Atlantis is Mu.', 'The capital of Lemuria is Mu.', 'The chief of Atlantis is Mu.'],
    ),
  );
  expect(course.keyOf('The capital of Atlantis is Poseidonis.')).toBe('The capital of Atlantis is Mu.');
  expect(course.updates).toBe(1);
  expect([...course.stale]).toEqual(['The capital of Atlantis is Poseidonis.']);
  expect(course.keyOf('never said')).toBeNull();
});

test('a chain of values and a return to an earlier one are updates each', () => {
  const course = courseOf(
    worldOf([['Ann lives in Oslo'], ['Ann lives in Rome'], ['Ann lives in Oslo']], ['Ann lives in Oslo']),
  );
  expect(course.updates).toBe(2);
});

test('each moment has one text that held then', () => {
  const course = courseOf(
    worldOf([['Ann lives in Oslo'], ['Ann lives in Rome', 'Ann lives in Bonn']], ['Ann lives in Bonn']),
  );
  expect(course.moments).toEqual([
    { at: at(0), holds: 'Ann lives in Oslo', others: ['Ann lives in Rome', 'Ann lives in Bonn'] },
    { at: at(1), holds: 'Ann lives in Bonn', others: ['Ann lives in Oslo', 'Ann lives in Rome'] },
  ]);
});

test.each([
  ['{}', 'expected batches to be a list, got nothing'],
  ['nope', 'expected JSON'],
  ['{"batches":[],"goldFinal":[]}', 'at least one batch'],
  ['{"batches":[{"messages":[{"content":""}]}],"goldFinal":[]}', 'batches[0].messages[0].content to be a text'],
  ['{"batches":[{"at":"soon","messages":[]}],"goldFinal":[]}', 'batches[0].at to be a moment'],
])('a file that is not of the form is refused with what is wrong: %s', (json, message) => {
  expect(() => readWorld(json)).toThrow(message);
});
