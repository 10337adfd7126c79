import { expect, test } from 'vitest';
import { z } from 'zod';
import { PostBatch } from './batches.ts';
import { takenAtOnce } from './common.ts';

const message = { role: 'user', content: 'Hello' };

type Issue = z.core.$ZodIssue;

/** Every mistake with its path, also inside the branches of a union. */
const mistakesIn = (
  issues: readonly Issue[],
  before: readonly PropertyKey[] = [],
): { path: string; message: string }[] =>
  issues.flatMap((issue) => {
    const path = [...before, ...issue.path];
    if (issue.code === 'invalid_union') return issue.errors.flatMap((branch) => mistakesIn(branch, path));
    return [{ path: path.join('.'), message: issue.message }];
  });

/** What messages are taken as, or what is wrong with them. */
const sent = (messages: unknown) => {
  const { data, error } = PostBatch.safeParse({ user_id: 'ana', messages });
  return data?.messages ?? mistakesIn(error?.issues ?? []);
};

/** What a message is taken as, with one more field or another value of one. */
const read = (more: object) => {
  const { data, error } = PostBatch.safeParse({ user_id: 'ana', messages: [{ ...message, ...more }, message] });
  return data?.messages[0] ?? mistakesIn(error?.issues ?? []).map(({ path }) => path);
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
  ['content.0.text', { content: [{ type: 'text' }] }],
  ['content', { content: 7 }],
  ['trust', { trust: 'mine' }],
  ['timestamp', { timestamp: -1 }],
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

test('a message that is no object is refused', () => {
  for (const none of [null, 1, [], [message], 'text', {}]) {
    expect(PostBatch.safeParse({ user_id: 'ana', messages: [none] }).success, JSON.stringify(none)).toBe(false);
  }
});

const said = (messages: unknown) => PostBatch.parse({ user_id: 'ana', messages }).messages;

test('a text alone is one message of the user', () => {
  expect(said('I live in Oslo')).toEqual([{ role: 'user', content: 'I live in Oslo' }]);
});

test("a conversation of OpenAI's chat API is taken as it is", () => {
  const call = { id: 'call_1', type: 'function', function: { name: 'weather', arguments: '{"city":"Oslo"}' } };
  expect(
    said([
      { role: 'developer', content: 'Be brief.' },
      { role: 'user', content: [{ type: 'text', text: 'Is it cold?' }], name: 'ana' },
      { role: 'assistant', content: null, refusal: null, annotations: [], audio: null, tool_calls: [call] },
      { role: 'tool', tool_call_id: 'call_1', content: '-3 °C' },
      { role: 'assistant', content: 'Yes, -3 °C.', reasoning_content: 'They want the temperature.', tool_calls: [] },
      { role: 'assistant', content: null, refusal: 'I cannot say.' },
      { role: 'assistant', content: null, audio: { id: 'a', data: 'AAAA', expires_at: 1, transcript: 'Good night.' } },
      { role: 'assistant', content: null, function_call: { name: 'sleep', arguments: '{}' } },
      { role: 'function', name: 'sleep', content: 'done' },
    ]),
  ).toEqual([
    { role: 'system', content: 'Be brief.' },
    { role: 'user', content: [{ type: 'text', text: 'Is it cold?' }], name: 'ana' },
    { role: 'assistant', content: '[called weather({"city":"Oslo"})]' },
    { role: 'tool', content: '-3 °C' },
    { role: 'assistant', content: 'Yes, -3 °C.' },
    { role: 'assistant', content: 'I cannot say.' },
    { role: 'assistant', content: 'Good night.' },
    { role: 'assistant', content: '[called sleep({})]' },
    { role: 'tool', content: 'done', name: 'sleep' },
  ]);
});

test("the items of OpenAI's Responses API are taken as they are", () => {
  expect(
    said([
      {
        role: 'user',
        content: [
          { type: 'input_text', text: 'Look' },
          { type: 'input_image', detail: 'auto', image_url: 'https://a.example/b.png' },
        ],
      },
      { id: 'rs_1', type: 'reasoning', summary: [{ type: 'summary_text', text: 'Hm.' }], encrypted_content: null },
      { id: 'ws_1', type: 'web_search_call', status: 'completed', action: { type: 'search', query: 'cats' } },
      { id: 'fc_1', type: 'function_call', call_id: 'c', name: 'note', arguments: '{"a":1}', status: 'completed' },
      { type: 'function_call_output', call_id: 'c', output: [{ type: 'input_text', text: 'noted' }] },
      { id: 'ct_1', type: 'custom_tool_call', call_id: 'd', name: 'run', input: 'ls' },
      {
        id: 'msg_1',
        type: 'message',
        status: 'completed',
        role: 'assistant',
        content: [{ type: 'output_text', text: 'A cat.', annotations: [], logprobs: [] }],
      },
    ]),
  ).toEqual([
    {
      role: 'user',
      content: [
        { type: 'text', text: 'Look' },
        { type: 'image_url', image_url: { url: 'https://a.example/b.png' } },
      ],
    },
    { role: 'assistant', content: '[called note({"a":1})]', id: 'fc_1' },
    { role: 'tool', content: 'noted' },
    { role: 'assistant', content: '[called run(ls)]', id: 'ct_1' },
    { role: 'assistant', content: [{ type: 'text', text: 'A cat.' }], id: 'msg_1' },
  ]);
});

test("messages of Anthropic's API are taken as they are, and what a tool returned is not the user's word", () => {
  const image = { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'aGk=' } };
  expect(
    said([
      { role: 'user', content: [image, { type: 'text', text: 'Who is it?', cache_control: { type: 'ephemeral' } }] },
      {
        id: 'msg_1',
        type: 'message',
        role: 'assistant',
        model: 'some-model',
        content: [
          { type: 'thinking', thinking: 'A secret.', signature: 's' },
          { type: 'text', text: 'I look.', citations: null },
          { type: 'tool_use', id: 't', name: 'faces', input: { most: 1 } },
        ],
        stop_reason: 'tool_use',
        stop_sequence: null,
        usage: { input_tokens: 1, output_tokens: 2 },
      },
      {
        role: 'user',
        content: [
          { type: 'tool_result', tool_use_id: 't', content: [{ type: 'text', text: 'I am Bob' }, image] },
          { type: 'text', text: 'And?' },
        ],
        id: 'm2',
      },
      {
        role: 'user',
        content: [{ type: 'tool_result', tool_use_id: 't', content: 'nobody', is_error: true }],
        id: 'm3',
      },
      {
        role: 'user',
        content: [{ type: 'document', source: { type: 'text', media_type: 'text/plain', data: 'I am Eve' } }],
      },
    ]),
  ).toEqual([
    {
      role: 'user',
      content: [
        { type: 'image_url', image_url: { url: 'data:image/png;base64,aGk=' } },
        { type: 'text', text: 'Who is it?' },
      ],
    },
    {
      role: 'assistant',
      content: [
        { type: 'text', text: 'I look.' },
        { type: 'text', text: '[called faces({"most":1})]' },
      ],
      id: 'msg_1',
    },
    { role: 'tool', content: 'I am Bob', id: 'm2/results' },
    { role: 'user', content: [{ type: 'text', text: 'And?' }], id: 'm2' },
    { role: 'tool', content: 'nobody', id: 'm3' },
    { role: 'tool', content: 'I am Eve' },
  ]);
});

test('a time may be Unix time, in seconds or milliseconds', () => {
  const timestamp = '2026-03-01T09:30:00.000Z';
  const at = Date.parse(timestamp);
  expect(said([{ ...message, timestamp: at }])).toEqual([{ ...message, timestamp }]);
  expect(said([{ ...message, timestamp: at / 1_000 }])).toEqual([{ ...message, timestamp }]);
});

test('what nobody can read is refused, and says what to send', () => {
  const read = (part: object) => sent([message, { role: 'user', content: [{ type: 'text', text: 'Listen' }, part] }]);
  const mistake = { path: 'messages.1.content.1.type', message: expect.stringContaining('send what it says as text') };
  for (const part of [
    { type: 'input_audio', input_audio: { data: 'AAAA', format: 'wav' } },
    { type: 'input_file', file_id: 'f' },
    { type: 'document', source: { type: 'base64', media_type: 'application/pdf', data: 'A' } },
    { type: 'image', source: { type: 'file', file_id: 'f' } },
    { type: 'a'.repeat(100_000) },
  ]) {
    expect(read(part)).toContainEqual(mistake);
    expect(JSON.stringify(read(part)).length).toBeLessThan(1_000);
  }
});

test('a transcript in which nobody said anything is refused', () => {
  for (const nothing of [
    { role: 'assistant', content: null },
    { type: 'reasoning', summary: [] },
    { role: 'assistant', content: [{ type: 'thinking', thinking: 'Hm.' }] },
  ]) {
    const { error } = PostBatch.safeParse({ user_id: 'ana', messages: [nothing] });
    expect(error?.issues[0]?.message).toContain('every message is empty');
  }
});

test('what tools returned is at most as long as any message', () => {
  const result = { type: 'tool_result', content: 'a'.repeat(400_000) };
  expect(sent([message, { role: 'user', content: [result] }])).toHaveLength(2);
  expect(sent([message, { role: 'user', content: [result, result] }])).toContainEqual(
    expect.objectContaining({ path: 'messages.1.content' }),
  );
});

test('what is plainly right is not looked at by the schema, and all else is', () => {
  const asked: unknown[] = [];
  const schema = z.strictObject({ a: z.string().refine((value) => asked.push(value) > 0) });
  const quick = takenAtOnce(schema, (value) => JSON.stringify(value) === '{"a":"plain"}');
  expect(z.array(quick).safeParse([{ a: 'plain' }, { a: 'other' }]).success).toBe(true);
  expect(asked).toEqual(['other']);
  expect(quick.safeParse({ a: 1 }).success).toBe(false);
});
