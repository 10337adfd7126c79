import { expect, test } from 'vitest';
import { ingestBench } from './testing/bench.ts';

const hello = { user_id: 'ann', messages: [{ role: 'user', content: 'I moved to Berlin.' }] };
const withMessage = (message: object): object => ({ user_id: 'ann', messages: [message] });
const user = (more: object): object => withMessage({ role: 'user', ...more });

test('a batch is stored, acknowledged with its address, and its lane scheduled', async () => {
  const { post, nudged, engine } = await ingestBench();
  const answer = await post({ ...hello, metadata: { source: 'chat' } });
  const { batch_id: id } = answer.json();
  expect(answer.statusCode).toBe(202);
  expect(answer.headers.location).toBe(`/v1/batches/${id}`);
  expect(answer.json()).toEqual({ batch_id: id, state: 'pending', status_url: `/v1/batches/${id}` });
  expect(nudged).toHaveLength(1);
  expect(await engine.deps.ledger.batches.get('default' as never, id)).toMatchObject({ metadata: { source: 'chat' } });
});

test('an acknowledgement does not depend on the queue', async () => {
  const { post, log } = await ingestBench(async () => {
    throw new Error('the queue is down');
  });
  expect((await post(hello)).statusCode).toBe(202);
  expect(log.lines.map(({ level }) => level)).toEqual(['warn']);
});

test.each([
  ['in the header', {}, { 'idempotency-key': 'k1' }],
  ['in the body', { idempotency_key: 'k1' }, {}],
])('the same key %s gives the first answer again', async (_where, more, headers) => {
  const { post } = await ingestBench();
  const first = await post({ ...hello, ...more }, headers);
  const again = await post({ messages: hello.messages, user_id: 'ann', idempotency_key: 'k1' });
  expect([first.statusCode, again.statusCode]).toEqual([202, 200]);
  expect(again.json()).toEqual(first.json());
});

test('the same key with another body is refused with what to do', async () => {
  const { post } = await ingestBench();
  await post(hello, { 'idempotency-key': 'k1' });
  const answer = await post({ ...hello, mode: 'verbatim' }, { 'idempotency-key': 'k1' });
  expect(answer.json()).toMatchObject({ status: 409, code: 'idempotency_conflict' });
  expect(answer.json().detail).toContain('use a new key');
});

test('two different keys in one request are refused', async () => {
  const { post } = await ingestBench();
  const answer = await post({ ...hello, idempotency_key: 'a' }, { 'idempotency-key': 'b' });
  expect(answer.json()).toMatchObject({ status: 400, code: 'invalid_request' });
});

test('an image is refused, saying where it is', async () => {
  const { post } = await ingestBench();
  const image = { type: 'image_url', image_url: { url: 'https://pictures.example/a.png' } };
  const answer = await post(user({ content: [{ type: 'text', text: 'look' }, image] }));
  expect(answer.json()).toMatchObject({
    status: 422,
    code: 'unsupported_content',
    errors: [{ path: 'messages[0].content' }],
  });
});

test.each([
  ['no ids', { messages: hello.messages }, 'user_id'],
  ['no messages', { user_id: 'ann' }, 'messages'],
  ['an empty list of messages', { user_id: 'ann', messages: [] }, 'messages'],
  ['only blank messages', user({ content: ' \n' }), 'messages'],
  ['a message without content', user({}), 'messages[0].content'],
  ['a number as content', user({ content: 7 }), 'messages[0].content'],
  ['an unknown part', user({ content: [{ type: 'audio' }] }), 'messages[0].content[0].type'],
  ['an unknown role', withMessage({ role: 'robot', content: 'hi' }), 'messages[0].role'],
  [
    'a time before 1970, and nothing said',
    withMessage({ role: 'user', content: null, timestamp: -1 }),
    'messages[0].timestamp',
  ],
  ['an unknown field', { ...hello, webhook: 'x' }, 'webhook'],
  ['a time without offset', { ...hello, timestamp: '2026-03-01 09:00' }, 'timestamp'],
  ['a day that does not exist', { ...hello, timestamp: '2026-02-30T09:00:00Z' }, 'timestamp'],
  ['a blank user', { ...hello, user_id: '  ' }, 'user_id'],
  ['a user with a control character', { ...hello, user_id: 'a\u0000b' }, 'user_id'],
  ['a number as user', { ...hello, user_id: 7 }, 'user_id'],
  ['a text for a flag', { ...hello, flush: 'yes' }, 'flush'],
  ['an unknown mode', { ...hello, mode: 'guess' }, 'mode'],
  ['metadata that is no object', { ...hello, metadata: [1] }, 'metadata'],
])('a batch with %s is refused, naming the place', async (_name, body, path) => {
  const { post } = await ingestBench();
  const answer = await post(body);
  expect(answer.json()).toMatchObject({ status: 400, code: 'invalid_request' });
  expect(answer.json().errors.map((error: { path: string }) => error.path)).toContain(path);
});

test.each([
  ['GET', '/v1/batches/bat_unknown', 404, 'not_found'],
  ['GET', '/v1/batches/bat_unknown?wait=soon', 400, 'invalid_request'],
  ['GET', '/v1/batches/bat_unknown?wait=90000', 400, 'invalid_request'],
  ['GET', '/v1/batches?state=lost', 400, 'invalid_request'],
  ['GET', '/v1/batches?limit=0', 400, 'invalid_request'],
  ['GET', '/v1/batches?limit=1000', 400, 'invalid_request'],
  ['GET', '/v1/batches?user=ann', 400, 'invalid_request'],
  ['GET', '/v1/batches?since=yesterday', 400, 'invalid_request'],
  ['GET', '/v1/batches?user_id=a&user_id=b', 400, 'invalid_request'],
  ['GET', '/v1/batches?cursor=nonsense', 400, 'invalid_cursor'],
  ['DELETE', '/v1/batches', 405, 'method_not_allowed'],
  ['POST', '/v1/batches/bat_1', 405, 'method_not_allowed'],
  ['GET', '/v1/flush', 405, 'method_not_allowed'],
] as const)('%s %s answers %i %s', async (...[method, url, status, code]) => {
  const { app } = await ingestBench();
  expect((await app.inject({ method, url })).json()).toMatchObject({ status, code });
});

test.each(['{}', '{"user_id":""}', '{"user_id":"ann","lane":"x"}', '[]', '"ann"'])(
  'flushing %s is refused',
  async (payload) => {
    const { app } = await ingestBench();
    const headers = { 'content-type': 'application/json' };
    const answer = await app.inject({ method: 'POST', url: '/v1/flush', payload, headers });
    expect(answer.json()).toMatchObject({ status: 400, code: 'invalid_request' });
  },
);
