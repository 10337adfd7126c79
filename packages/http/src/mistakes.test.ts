import { expect, test } from 'vitest';
import { z } from 'zod';
import { mistakes } from './mistakes.ts';

const Part = z.discriminatedUnion('type', [z.strictObject({ type: z.literal('text'), text: z.string() })]);
const Schema = z.strictObject({
  role: z.enum(['user', 'assistant']),
  content: z.union([z.string(), z.array(Part).min(1)]),
  at: z.iso.datetime({ offset: true }),
  count: z.int().max(3),
  tags: z.record(z.string().min(1), z.string()),
});
const right = { role: 'user', content: 'hi', at: '2026-03-01T09:30:00Z', count: 1, tags: {} };

test.each([
  [{ role: 'bot' }, 'role', 'expected one of "user", "assistant", got "bot"'],
  [{ role: undefined }, 'role', 'expected one of "user", "assistant", got nothing'],
  [{ content: 5 }, 'content', 'expected a string or an array, got the number 5'],
  [{ content: [] }, 'content', 'expected at least 1 item, got an array of 0'],
  [{ content: [{ type: 'text', text: 7 }] }, 'content[0].text', 'expected a string, got the number 7'],
  [{ content: [{ type: 'film' }] }, 'content[0].type', 'expected "text", got "film"'],
  [{ at: 'soon' }, 'at', 'expected an ISO 8601 time with a UTC offset, like 2026-03-01T09:30:00Z, got "soon"'],
  [{ count: 1.5 }, 'count', 'expected a whole number, got the number 1.5'],
  [{ count: 9 }, 'count', 'expected at most 3, got the number 9'],
  [{ colour: 1 }, 'colour', 'unknown field; remove it or correct its name'],
  [{ tags: { '': 'a' } }, 'tags.', 'expected a key of at least 1 character, got ""'],
])('%j is described by its path, what was expected and what was got', (change, path, message) => {
  const input = { ...right, ...change };
  const { error } = Schema.safeParse(input);
  expect(mistakes(error?.issues ?? [], input)).toEqual([{ path, message }]);
});
