import { expect, test } from 'vitest';
import { type Complaint, unquoted } from './failure.ts';

const SENT = ['{"content":"I met Zora Quill at noon, at the old mill"}', '我昨天在旧磨坊见到了佐拉，我们聊了很久'];
const complaint = (text: string): Complaint => ({
  ...{ status: 400, code: 'bad', param: '', text, retryAfterMs: null, cause: new Error(text) },
});

test.each([
  ['cannot read: I met Zora Quill at noon', 'cannot read: …'],
  ['invalid word "Zora" in the input', 'invalid word "…" in the input'],
  ["got 'I met Zora Quill at noon, at the old mill'", "got '…'"],
  ['拒绝：我昨天在旧磨坊见到了佐拉，我们聊了', '拒绝：…'],
])('%s is told as %s, and nothing behind it tells more', (text, told) => {
  expect(unquoted(complaint(text), SENT)).toMatchObject({ text: told, cause: undefined });
});

test.each(['maximum context length is 8192 tokens', "unknown field 'response_format'", 'at noon', ''])(
  '%j stays as it is',
  (text) => {
    const given = complaint(text);
    expect(unquoted(given, SENT)).toBe(given);
  },
);

test('a complaint that repeats a whole document is dealt with in no time', () => {
  const sent = 'a b '.repeat(50_000);
  expect(unquoted(complaint(sent.slice(0, 500)), [sent]).text).toBe('…');
});
