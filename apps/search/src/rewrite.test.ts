import { DEFAULT_TENANT, EngineError, silentMeter } from '@slowwave/engine';
import { fakeChat, ONE_CHAT, type Script } from '@slowwave/engine-testing';
import type { KeyCheck } from '@slowwave/http';
import { expect, test } from 'vitest';
import { rewriting } from './question.ts';
import { searchBench } from './testing/bench.ts';

const SAID = [
  { role: 'user', content: 'My sister Ida lives in Bergen' },
  { role: 'assistant', content: 'Nice!' },
];
const LEANING = { query: 'and where does she work?', user_id: 'ann', messages: SAID, rewrite: true };
const WHOLE = 'Where does Ida work?';

/** A user's memories, and a chat model that rewrites questions. */
async function bench(rewrite: Script) {
  const chat = fakeChat({ rewrite_question: rewrite, repair_output: rewrite });
  const real = await searchBench();
  await real.remember('Ida works at Fjord Robotics');
  await real.remember('Ann likes figs');
  const { ledger, index, tools, settings } = real.engine.deps;
  const reader = { ledger, tools, settings, chat, meter: silentMeter, ...ONE_CHAT };
  const { app } = await searchBench({ index, ledger, reader, rewrite: rewriting(reader) });
  const ask = async (url: string, body: object) => (await app.inject({ method: 'POST', url, payload: body })).json();
  return { chat, ask, stats: async () => (await real.app.inject('/v1/stats')).json() };
}

test('a question that leans on the conversation is searched for as the model rewrites it', async () => {
  const { chat, ask } = await bench(() => ({ question: WHOLE }));
  const answer = await ask('/v1/search', LEANING);
  expect(answer.rewritten_query).toBe(WHOLE);
  expect(answer.results.map(({ memory }: { memory: string }) => memory)).toEqual(['Ida works at Fjord Robotics']);
  expect(JSON.parse(chat.calls[0]?.user.split('\n').at(-1) ?? '')).toEqual({
    question: LEANING.query,
    messages: SAID,
  });
});

test('so are the memories of a context', async () => {
  const { ask } = await bench(() => ({ question: WHOLE }));
  const { query, ...turns } = LEANING;
  const messages = [...SAID, { role: 'user', content: query }];
  const answer = await ask('/v1/context', { ...turns, messages, sections: ['memories'] });
  expect(answer.rewritten_query).toBe(WHOLE);
  expect(answer.text).toContain('Fjord Robotics');
});

test('the same question after the same turns is paid for once, by whoever asks', async () => {
  const { chat, ask, stats } = await bench(() => ({ question: WHOLE }));
  await Promise.all([ask('/v1/search', LEANING), ask('/v1/search', LEANING)]);
  await ask('/v1/search', LEANING);
  expect(chat.calls).toHaveLength(1);
  expect((await stats()).usage).toMatchObject({ calls: 1, failed_calls: 0 });
  await ask('/v1/search', { ...LEANING, user_id: 'bob' });
  expect(chat.calls).toHaveLength(2);
});

test('what searches and contexts ask a model is counted to the key and the app that asked', async () => {
  const chat = fakeChat({
    rewrite_question: () => ({ question: WHOLE }),
    rerank_memories: () => ({ ranking: [{ id: '0', relevance: 1 }] }),
  });
  const real = await searchBench();
  for (const name of ['Ida', 'Per']) await real.remember(`${name} works in Oslo`, { user_id: 'ann', app_id: 'diary' });
  const { ledger, index, tools, settings } = real.engine.deps;
  const reader = { ledger, tools, settings, chat, meter: silentMeter, ...ONE_CHAT };
  const { app } = await searchBench({ index, ledger, reader, rewrite: rewriting(reader), keys: KEYS });
  const ask = async (url: string, payload: object) =>
    (await app.inject({ method: 'POST', url, headers: { authorization: 'Bearer key_1' }, payload })).json();
  const body = { user_id: 'ann', app_id: 'diary', rewrite: true };
  const searched = { ...body, query: 'who works in Oslo?', messages: SAID, rerank: 'model' };
  expect((await ask('/v1/search', searched)).results).toHaveLength(2);
  const messages = [...SAID, { role: 'user', content: 'and who works in Oslo?' }];
  expect((await ask('/v1/context', { ...body, messages })).text).toContain('Ida works in Oslo');
  const asked = { groups: ['step', 'app', 'key'] as const, from: 0, to: tools.now() + 1 };
  const rows = await ledger.usage.report(DEFAULT_TENANT, asked, { limit: 10, offset: 0 });
  expect(rows.map(({ group, answered }) => [group.step, group.app, group.key, answered.calls])).toEqual([
    ['rerank', 'diary', 'key_1', 1],
    ['rewrite', 'diary', 'key_1', 2],
  ]);
});

const KEYS: KeyCheck = {
  any: async () => true,
  check: async (keyId) => ({
    kind: 'taken',
    principal: { keyId, tenant: DEFAULT_TENANT, scopes: ['search'], userId: null, appId: null },
  }),
};

test('nothing is asked unless it is wanted', async () => {
  const { chat, ask } = await bench(() => ({ question: WHOLE }));
  const { messages, rewrite, ...plain } = LEANING;
  expect((await ask('/v1/search', plain)).rewritten_query).toBeUndefined();
  expect((await ask('/v1/context', { ...plain, messages })).rewritten_query).toBeUndefined();
  expect(chat.calls).toEqual([]);
});

test('a model that fails leaves the question as it stands, and it is said', async () => {
  const { ask } = await bench(() => {
    throw new EngineError('got status 500', { code: 'model_server_error', retryable: true });
  });
  const answer = await ask('/v1/search', { ...LEANING, query: WHOLE });
  expect(answer.rewritten_query).toBeUndefined();
  expect(answer.results).toHaveLength(1);
  expect(answer.degraded).toEqual(['the query was not rewritten (model_server_error)']);
});

test('a secret that was said is shown to no model', async () => {
  const { chat, ask } = await bench(() => ({ question: WHOLE }));
  await ask('/v1/search', { ...LEANING, messages: [{ role: 'user', content: 'my password is hunter2' }] });
  expect(chat.calls[0]?.user).toContain('[secret: password]');
  expect(chat.calls[0]?.user).not.toContain('hunter2');
});

test.each(['/v1/search', '/v1/context'])(
  '%s refuses to rewrite where no chat model is, with what to set',
  async (url) => {
    const { app } = await searchBench();
    const answer = (await app.inject({ method: 'POST', url, payload: LEANING })).json();
    expect(answer).toMatchObject({ status: 422, code: 'not_configured', errors: [{ path: 'rewrite' }] });
    expect(answer.detail).toContain('SLOWWAVE_CHAT_MODEL');
  },
);

test.each([
  ['/v1/search', { query: 'x', user_id: 'ann', rewrite: true }],
  ['/v1/search', { query: 'x', user_id: 'ann', messages: SAID }],
  ['/v1/context', { query: 'x', user_id: 'ann', rewrite: true }],
])('%s refuses one without the other: %j', async (url, body) => {
  const { app } = await searchBench();
  const answer = (await app.inject({ method: 'POST', url, payload: body })).json();
  expect(answer).toMatchObject({ status: 400, errors: [{ path: 'rewrite' }] });
});
