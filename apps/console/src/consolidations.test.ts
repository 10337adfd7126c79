import { DEFAULT_SETTINGS, DEFAULT_TENANT } from '@slowwave/engine';
import { expect, test } from 'vitest';
import { consoleBench } from './testing/bench.ts';

test('a consolidation shows what was thought, decided and changed', async () => {
  const { app, engine } = await consoleBench();
  const batchId = await engine.post(['Ann lives in Berlin']);
  await engine.run();
  const { results } = (await app.inject('/v1/consolidations?user_id=ann&state=applied')).json();
  expect(results).toMatchObject([{ user_id: 'ann', state: 'applied', batch_ids: [batchId], error: null }]);
  const shown = (await app.inject(`/v1/consolidations/${results[0].id}`)).json();
  expect(shown.plan).toMatchObject({
    round: 1,
    facts: [{ text: 'Ann lives in Berlin' }],
    outcomes: [{ outcome: 'ADD' }],
    events: [{ event: 'ADD', memory: 'Ann lives in Berlin', version: 1 }],
    held: [],
    cost: null,
    usage: { calls: 1, models: [{ model: 'scripted', calls: 1, cost: null }] },
  });
  expect(shown.answers[0]).toMatchObject({ model: 'scripted' });
  expect(shown.answers[0].output).toContain('Ann lives in Berlin');
});

test('a consolidation shows the messages of its batches in their order, where that is asked for', async () => {
  const { app, engine } = await consoleBench();
  await engine.post(['Ann lives in Berlin', 'Ann has a dog']);
  await engine.post(['Ann likes tea']);
  await engine.run();
  const [{ id }] = (await app.inject('/v1/consolidations')).json().results;
  expect((await app.inject(`/v1/consolidations/${id}`)).json().messages).toBeUndefined();
  const { messages, batch_ids: batches } = (await app.inject(`/v1/consolidations/${id}?include=messages`)).json();
  expect(messages.map(({ content }: { content: string }) => content)).toEqual([
    'Ann lives in Berlin',
    'Ann has a dog',
    'Ann likes tea',
  ]);
  expect(messages[2]).toMatchObject({ batch_id: batches[1], role: 'user', message_id: expect.stringMatching(/^msg_/) });
});

test('a consolidation costs what its model is priced at', async () => {
  const { app, send, engine } = await consoleBench();
  await send('PUT', '/v1/settings', { prices: { scripted: { prompt: 1, completion: 2 } } });
  await engine.post(['Ann lives in Berlin']);
  await engine.run();
  const { results } = (await app.inject('/v1/consolidations')).json();
  const { plan } = (await app.inject(`/v1/consolidations/${results[0].id}`)).json();
  const { prompt_tokens: asked, completion_tokens: answered } = plan.usage;
  expect(plan.cost).toBeCloseTo((asked + 2 * answered) / 1_000_000, 12);
  expect(plan.usage.models).toMatchObject([{ model: 'scripted', cost: plan.cost }]);
});

test.each([
  ['POST', '/v1/consolidations', {}, { status: 405, code: 'method_not_allowed' }],
  ['GET', '/v1/consolidations/con_unknown', undefined, { status: 404, code: 'not_found' }],
  ['GET', '/v1/consolidations?state=done', undefined, { status: 400, code: 'invalid_request' }],
  ['GET', '/v1/consolidations?cursor=x', undefined, { status: 400, code: 'invalid_cursor' }],
] as const)('%s %s with %j is refused as the mistake it is', async (...[method, url, payload, told]) => {
  const { app } = await consoleBench();
  const answer = await app.inject({ method, url, ...(payload !== undefined && { payload }) });
  expect(answer.json()).toMatchObject(told);
});

const batch = { user_id: 'ann', messages: [{ role: 'user', content: 'home: Berlin' }] };

test('a preview shows the whole decision and writes nothing', async () => {
  const { engine, send } = await consoleBench();
  const answer = await send('POST', '/v1/consolidations/preview', batch);
  expect(answer.statusCode).toBe(200);
  expect(answer.json()).toMatchObject({
    facts: [{ text: 'home: Berlin' }],
    outcomes: [{ outcome: 'ADD' }],
    operations: [{ event: 'ADD', after: 'home: Berlin' }],
    usage: { calls: 1 },
  });
  expect(await engine.memories('ann')).toEqual([]);
});

test('a preview tries settings that nobody has saved, but pays as those that are', async () => {
  const { engine, send } = await consoleBench();
  const preview = async (more: object = {}) =>
    (await send('POST', '/v1/consolidations/preview', { ...batch, settings: { review: ['ADD'], ...more } })).json();
  expect(await preview()).toMatchObject({ operations: [], held: [{ event: 'ADD', after: 'home: Berlin' }] });
  const { prompts } = await preview({ prompts: { extract: 'Sort into {{categories}}.' } });
  expect(prompts).toContainEqual(expect.objectContaining({ name: 'extract_facts', version: 'custom' }));
  expect(await engine.deps.ledger.settings.get(DEFAULT_TENANT)).toEqual(DEFAULT_SETTINGS);
  const mistakes = (await preview({ prompts: { extract: 'Sort.' } })).errors;
  expect(mistakes).toMatchObject([{ path: 'settings.prompts.extract' }]);
  expect(await preview({ budgets: { tokens_per_day: 1e9 } })).toMatchObject({ code: 'invalid_request' });
});

test('a preview for one user tries no settings, which hold for all', async () => {
  const STATIC = 'the-key-of-the-operator';
  const { app } = await consoleBench({ apiKey: STATIC, audited: true });
  const ask = (key: string, url: string, payload: object) =>
    app.inject({ method: 'POST', url, payload, headers: { authorization: `Bearer ${key}` } });
  const { secret } = (await ask(STATIC, '/v1/keys', { name: 'k', scopes: ['manage'], user_id: 'ann' })).json();
  const url = '/v1/consolidations/preview';
  expect((await ask(secret, url, batch)).statusCode).toBe(200);
  expect((await ask(secret, url, { ...batch, settings: {} })).json()).toMatchObject({ status: 403, code: 'key_bound' });
});

test('a preview takes no field that only makes sense for a batch that stays', async () => {
  const { send } = await consoleBench();
  const answer = await send('POST', '/v1/consolidations/preview', { ...batch, flush: true });
  expect(answer.statusCode).toBe(400);
  expect(answer.json()).toMatchObject({ code: 'invalid_request' });
});

test('a preview above the budget of the day is refused, and asks no model', async () => {
  const { engine, send } = await consoleBench();
  await send('PUT', '/v1/settings', { budgets: { tokens_per_day: 1 } });
  expect((await send('POST', '/v1/consolidations/preview', batch)).statusCode).toBe(200);
  const used = await engine.deps.ledger.overview.usage(DEFAULT_TENANT);
  const answer = await send('POST', '/v1/consolidations/preview', batch);
  expect(answer.statusCode).toBe(402);
  expect(answer.json()).toMatchObject({ code: 'budget_exhausted', detail: expect.stringContaining('tokens_per_day') });
  expect(await engine.deps.ledger.overview.usage(DEFAULT_TENANT)).toEqual(used);
});

test('many previews at once do not all find the same room in a budget', async () => {
  const { engine, send } = await consoleBench();
  await send('PUT', '/v1/settings', { budgets: { tokens_per_day: 1 } });
  const { chat } = engine.deps;
  const { ask } = chat;
  const go = Promise.withResolvers<void>();
  let held = 0;
  Object.assign(chat, {
    ask: async (...call: Parameters<typeof ask>) => {
      held += 1;
      await go.promise;
      return ask(...call);
    },
  });
  const asked = Array.from({ length: 40 }, () => send('POST', '/v1/consolidations/preview', batch));
  await expect.poll(() => held).toBeGreaterThanOrEqual(4);
  for (let turns = 0; turns < 1_000; turns += 1) await new Promise(setImmediate); // whoever could begin has begun
  go.resolve();
  const answers = await Promise.all(asked);
  const statuses = answers.map(({ statusCode }) => statusCode);
  expect(new Set(statuses)).toEqual(new Set([200, 402]));
  expect(statuses.filter((status) => status === 200).length).toBeLessThanOrEqual(4);
  expect((await engine.deps.ledger.overview.usage(DEFAULT_TENANT)).calls).toBeLessThanOrEqual(4);
  await send('PUT', '/v1/settings', {});
  expect((await send('POST', '/v1/consolidations/preview', batch)).statusCode).toBe(200);
});

test('who hangs up leaves the line: a preview that nobody waits for is not made', async () => {
  const { app, engine, send } = await consoleBench();
  const { chat } = engine.deps;
  const { ask } = chat;
  const go = Promise.withResolvers<void>();
  let held = 0;
  Object.assign(chat, {
    ask: async (...call: Parameters<typeof ask>) => {
      held += 1;
      await go.promise;
      return ask(...call);
    },
  });
  const first = Array.from({ length: 4 }, () => send('POST', '/v1/consolidations/preview', batch));
  await expect.poll(() => held).toBe(4);
  const url = `${await app.listen({ host: '127.0.0.1', port: 0 })}/v1/consolidations/preview`;
  const closed = new AbortController();
  const headers = { 'content-type': 'application/json' };
  const body = JSON.stringify(batch);
  const waiting = fetch(url, { method: 'POST', headers, body, signal: closed.signal });
  const arrived = () => new Promise((resolve) => app.server.getConnections((_, count) => resolve(count)));
  await expect.poll(arrived).toBe(1);
  for (let turns = 0; turns < 1_000; turns += 1) await new Promise(setImmediate); // it stands in line
  closed.abort();
  await expect(waiting).rejects.toThrow();
  await expect.poll(arrived).toBe(0);
  go.resolve();
  expect((await Promise.all(first)).map(({ statusCode }) => statusCode)).toEqual([200, 200, 200, 200]);
  expect((await send('POST', '/v1/consolidations/preview', batch)).statusCode).toBe(200);
  expect(held).toBe(5);
  await app.close();
});

test('a consolidation shows what models were sent, until something of it is forgotten', async () => {
  const { app, engine, send } = await consoleBench();
  await engine.post(['Ann lives in Berlin']);
  await engine.run();
  const [{ id }] = (await app.inject('/v1/consolidations')).json().results;
  const shown = async () => (await app.inject(`/v1/consolidations/${id}/prompts`)).json().results;
  const [first, ...others] = await shown();
  expect(others).toEqual([]);
  expect(first.step).toBe('extract');
  expect(first.prompt.system).toContain('extract_facts');
  expect(first.prompt.user).toContain('Ann lives in Berlin');
  const [memory] = await engine.memories();
  expect((await send('DELETE', `/v1/memories/${memory?.id}`)).statusCode).toBe(200);
  expect(await shown()).toMatchObject([{ step: 'extract', prompt: null }]);
});

test('a consolidation from before relations were kept is studied when that is asked for', async () => {
  const { app, engine } = await consoleBench();
  await engine.post(['Ann lives in Berlin']);
  await engine.run();
  const { results } = (await app.inject('/v1/consolidations?user_id=ann')).json();
  const url = `/v1/consolidations/${results[0].id}/graph`;
  expect((await app.inject(url)).json()).toMatchObject({ status: 404, code: 'not_found' });
  const asked = await app.inject({ method: 'POST', url });
  expect([asked.statusCode, asked.json()]).toMatchObject([202, { state: 'pending', attempts: 0, plan: null }]);
  expect((await app.inject(url)).json()).toEqual(asked.json());
  expect((await app.inject({ method: 'POST', url })).json()).toMatchObject({ status: 409, code: 'conflict' });
});

test('what is no consolidation has no study', async () => {
  const { app } = await consoleBench();
  const url = '/v1/consolidations/con_unknown/graph';
  expect((await app.inject({ method: 'POST', url })).json()).toMatchObject({ status: 404, code: 'not_found' });
});
