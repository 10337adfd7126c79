import type { App } from '@slowwave/http';
import { expect, test } from 'vitest';
import { searchBench } from './testing/bench.ts';

const ACCEPT = { accept: 'application/json, text/event-stream' };

const post = (app: App, payload: object, headers: Readonly<Record<string, string>> = {}) =>
  app.inject({ method: 'POST', url: '/mcp', payload, headers: { ...ACCEPT, ...headers } });

const calling = (name: string, args: object) => ({
  jsonrpc: '2.0',
  id: 1,
  method: 'tools/call',
  params: { name, arguments: args },
});

/** The result of a call, out of the event that it is sent as. */
async function called(app: App, name: string, args: object) {
  const { statusCode, body } = await post(app, calling(name, args));
  expect(statusCode, body).toBe(200);
  return JSON.parse(/^data: (.*)$/m.exec(body)?.[1] ?? '{}').result;
}

const SEARCHING = { query: 'Where does Ann live?', user_id: 'ann' };

test('a tool asks the routes of this process, and says where it could ask for what they do not do', async () => {
  const { app, remember } = await searchBench();
  const id = await remember('Ann lives in Berlin');
  const found = await called(app, 'search_memories', SEARCHING);
  expect(found.structuredContent.results).toMatchObject([{ id, memory: 'Ann lives in Berlin' }]);
  for (const [tool, args] of [
    ['add_memory', { text: 'I live in Oslo', user_id: 'ann' }],
    ['delete_memory', { memory_id: id }],
  ] as const) {
    const refused = await called(app, tool, args);
    expect(refused).toMatchObject({ isError: true, content: [{ text: expect.stringContaining('SLOWWAVE_URL') }] });
  }
});

test.each([{ origin: 'http://evil.example' }, { 'sec-fetch-site': 'cross-site' }, { host: 'evil.example' }])(
  'a page of another site cannot use them where no key is needed: %o',
  async (headers) => {
    const { app } = await searchBench();
    expect((await post(app, calling('search_memories', SEARCHING), headers)).statusCode).toBe(403);
  },
);

test('one message is taken at a time, by POST alone, and ids in headers have to be ids', async () => {
  const { app } = await searchBench();
  const list = await post(app, [calling('search_memories', SEARCHING)]);
  expect(list.json()).toMatchObject({ status: 400, detail: expect.stringContaining('one message') });
  const read = await app.inject('/mcp');
  expect([read.statusCode, read.headers.allow]).toEqual([405, 'POST']);
  for (const name of ['user', 'agent', 'run', 'app']) {
    const broken = await post(app, calling('search_memories', SEARCHING), { [`x-slowwave-${name}`]: '%' });
    expect([name, broken.json().code]).toEqual([name, 'invalid_request']);
  }
});

test('a call counts against the rate of a key: itself and what it asks', async () => {
  const principal = { keyId: 'key_1', tenant: 'default', scopes: ['search' as const], userId: null, appId: null };
  const keys = { any: async () => true, check: async () => ({ kind: 'taken' as const, principal }) };
  const { app } = await searchBench({ keys, keyRate: 1 });
  const headers = { authorization: 'Bearer sw_x' };
  const [first, second] = [calling('search_memories', SEARCHING), calling('search_memories', SEARCHING)];
  expect((await post(app, first, headers)).body).not.toContain('isError');
  const refused = await post(app, second, headers);
  expect([refused.statusCode, refused.json().code]).toEqual([429, 'too_many_requests']);
});
