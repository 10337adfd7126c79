import { cleanText, type JsonObject } from '@slowwave/engine';
import { expect } from 'vitest';

/** What a server could take for the end of the data: tokens of templates, and line breaks. */
const SIGNS = /<[|｜<]|<\/?[a-z][a-z_]*>|\[\/?INST\]|[\n\r\u2028\u2029\u0085]|[\u{E0020}-\u{E007E}]|\u200b|\u2060/iu;

/** The data a call was given; throws where its message is more than one sentence and one line of JSON. */
export function dataOf({ user }: { user: string }): JsonObject {
  const [sentence = '', line = '', ...more] = user.split('\n');
  expect(more).toEqual([]);
  expect(sentence).toMatch(/^[A-Z][\w ,.]+$/);
  expect(line).not.toMatch(SIGNS);
  return JSON.parse(line);
}

/** As it is read: what nobody can see is gone. */
export const asRead = (text: string): string => cleanText(text).trim();
