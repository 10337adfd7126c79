import { afterEach, expect, test } from 'vitest';
import { createSlowwave, type SlowwaveError } from '../src/index.ts';
import { type Scripted, startScripted } from './server.ts';

const PROBLEM = { code: 'unavailable', detail: 'expected Redis, got nothing', status: 503 };
const ACCEPTED = { batch_id: 'bat_1', state: 'pending', status_url: '/v1/batches/bat_1' };
const BATCH = { user_id: 'ana', messages: [{ role: 'user' as const, content: 'hello' }] };

let running: Awaited<ReturnType<typeof startScripted>> | null = null;
afterEach(async () => {
  await running?.close();
  running = null;
});

async function against(answers: readonly Scripted[], options: { retries?: number; timeoutMs?: number } = {}) {
  running = await startScripted(answers);
  return { client: createSlowwave({ url: `${running.url}/`, ...options }), asked: running.asked };
}

const failure = (call: Promise<unknown>): Promise<SlowwaveError> =>
  call.then(
    () => expect.unreachable('it was expected to fail'),
    (error) => error,
  );

test('a post that got no answer is sent again with the same key and body', async () => {
  const { client, asked } = await against([
    { status: 503, body: PROBLEM },
    { status: 202, body: ACCEPTED },
  ]);
  expect(await client.batches.post(BATCH)).toEqual(ACCEPTED);
  expect(asked).toHaveLength(2);
  expect(asked[0]?.key).toMatch(/^[0-9a-f]{32}$/);
  expect(asked[1]).toEqual(asked[0]);
});

test('two posts have two keys, and a given key is kept', async () => {
  const { client, asked } = await against([{ status: 202, body: ACCEPTED }]);
  await client.batches.post(BATCH);
  await client.batches.post(BATCH);
  await client.batches.post(BATCH, { idempotencyKey: 'mine' });
  expect(asked[0]?.key).not.toBe(asked[1]?.key);
  expect(asked[2]?.key).toBe('mine');
});

test('a write that might have been carried out is not sent again', async () => {
  const { client, asked } = await against([{ status: 503, body: PROBLEM }]);
  const error = await failure(client.memories.add({ user_id: 'ana', memory: 'likes tea' }));
  expect(error).toMatchObject({ name: 'SlowwaveError', status: 503, code: 'unavailable', retryable: true });
  expect(error.message).toBe(PROBLEM.detail);
  expect(asked).toHaveLength(1);
});

test('what was refused for being too much is sent again after the time the server names', async () => {
  const full = { status: 429, headers: { 'retry-after': '0' }, body: { ...PROBLEM, code: 'too_many_requests' } };
  const { client, asked } = await against([full, full, { body: { id: 'mem_1' } }]);
  expect(await client.memories.add({ user_id: 'ana', memory: 'likes tea' })).toEqual({ id: 'mem_1' });
  expect(asked).toHaveLength(3);
});

test('tries end, and the last failure is told', async () => {
  const { client, asked } = await against([{ status: 502, body: '<html>bad gateway</html>' }], { retries: 1 });
  expect(await failure(client.stats())).toMatchObject({ status: 502, code: 'not_slowwave' });
  expect(asked).toHaveLength(2);
});

test('a mistake of the caller is told at once, with its path', async () => {
  const errors = [{ path: 'query', message: 'expected text, got none' }];
  const { client, asked } = await against([{ status: 400, body: { code: 'invalid_request', detail: 'bad', errors } }]);
  const error = await failure(client.memories.search({ query: '', user_id: 'ana' }));
  expect(error).toMatchObject({ status: 400, code: 'invalid_request', errors, retryable: false });
  expect(asked).toHaveLength(1);
});

test('no answer within the time is an error that says so; who aborts gets the own reason', async () => {
  const { client } = await against([{ hang: true }], { retries: 0, timeoutMs: 60 });
  expect(await failure(client.stats())).toMatchObject({ status: null, code: 'timeout' });
  const stopped = failure(client.stats({ signal: AbortSignal.abort(new Error('changed my mind')) }));
  expect((await stopped).message).toBe('changed my mind');
});

test('a server that is not there is named', async () => {
  const { client } = await against([{}], { retries: 0 });
  await running?.close();
  const error = await failure(client.stats());
  expect(error).toMatchObject({ status: null, code: 'no_answer', retryable: true });
  expect(error.message).toContain('http://127.0.0.1:');
  expect(() => createSlowwave({ url: 'localhost:7070' })).toThrow(/expected url to be like http:\/\/localhost:7070/);
});

test('ids and queries travel unharmed, and lists are read page after page', async () => {
  const pages = [
    { body: { results: [{ id: 'a' }, { id: 'b' }], next_cursor: 'c 1' } },
    { body: { results: [{ id: 'c' }], next_cursor: null } },
  ];
  const { client, asked } = await against(pages);
  const ids = [];
  for await (const memory of client.memories.each({ user_id: 'a&b/小明' })) ids.push(memory.id);
  expect(ids).toEqual(['a', 'b', 'c']);
  const query = new URL(asked[1]?.name.split(' ')[1] ?? '', 'http://x').searchParams;
  expect([query.get('user_id'), query.get('cursor')]).toEqual(['a&b/小明', 'c 1']);
  await client.memories.get('x/../y');
  expect(asked[2]?.name).toBe('GET /v1/memories/x%2F..%2Fy');
});

test('an export is read line by line, whole characters only', async () => {
  const lines = [
    { kind: 'memory', text: '小明住在上海' },
    { kind: 'memory', text: 'tea' },
  ];
  const { client } = await against([{ body: `${lines.map((line) => JSON.stringify(line)).join('\n')}\n` }]);
  const read = [];
  for await (const line of client.users.export('ana')) read.push(line);
  expect(read).toEqual(lines);
});

test('waiting for a batch asks until it is done', async () => {
  const pending = { id: 'bat_1', state: 'pending' };
  const { client, asked } = await against([{ body: pending }, { body: { ...pending, state: 'consolidated' } }]);
  expect((await client.batches.settled('bat_1')).state).toBe('consolidated');
  expect(asked.map(({ name }) => name)).toEqual(Array(2).fill('GET /v1/batches/bat_1?wait=60000'));
});
