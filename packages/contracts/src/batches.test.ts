import { expect, test } from 'vitest';
import { z } from 'zod';
import { MessageBody, PostBatch } from './batches.ts';
import { takenAtOnce } from './common.ts';

const message = { role: 'user', content: 'Hello' };

/** What a message is taken as, with one more field or another value of one. */
const read = (more: object) => {
  const batch = PostBatch.safeParse({ user_id: 'ana', messages: [{ ...message, ...more }, message] });
  return batch.success ? batch.data.messages[0] : batch.error.issues.map(({ path }) => path.join('.'));
};

test.each([
  { role: 'tool' },
  { content: 'a'.repeat(500_000) },
  { content: [{ type: 'text', text: 'Hello' }] },
  { id: 'm1', name: 'Ana Q.' },
  { name: ' 李雷' },
  { timestamp: '2026-01-31T23:59:59.999+09:00' },
  { timestamp: '2026-02-28T00:00:00Z', id: '~' },
])('a message with %j is taken as it is', (more) => {
  expect(read(more)).toEqual({ ...message, ...more });
});

test.each([
  ['role', { role: 'nobody' }],
  ['role', { role: undefined }],
  ['content', { content: undefined }],
  ['content', { content: null }],
  ['content', { content: 'a'.repeat(500_001) }],
  ['id', { id: '' }],
  ['id', { id: '   ' }],
  ['id', { id: 'a'.repeat(257) }],
  ['name', { name: 'a\n' }],
  ['name', { name: 7 }],
  ['timestamp', { timestamp: '2026-02-30T00:00:00Z' }],
  ['timestamp', { timestamp: '2026-01-01T00:00:00' }],
  ['timestamp', { timestamp: '2026-01-01T24:00:00Z' }],
])('a message is refused where its %s is not right: %j', (field, more) => {
  expect(read(more)).toContain(`messages.0.${field}`);
});

test('a message with a field that there is not is refused, whatever it is called', () => {
  for (const field of ['more', '__proto', 'constructor', 'toString', '0'])
    expect(read({ [field]: 'a' })).toEqual(['messages.0']);
  for (const none of [null, 'text', 1, [], [message]]) expect(MessageBody.safeParse(none).success).toBe(false);
});

test('what is plainly right is not looked at by the schema, and all else is', () => {
  const asked: unknown[] = [];
  const schema = z.strictObject({ a: z.string().refine((value) => asked.push(value) > 0) });
  const quick = takenAtOnce(schema, (value) => JSON.stringify(value) === '{"a":"plain"}');
  expect(z.array(quick).safeParse([{ a: 'plain' }, { a: 'other' }]).success).toBe(true);
  expect(asked).toEqual(['other']);
  expect(quick.safeParse({ a: 1 }).success).toBe(false);
});
