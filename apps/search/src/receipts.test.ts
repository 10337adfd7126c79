import { DEFAULT_TENANT, silentMeter } from '@slowwave/engine';
import { fakeChat, ONE_CHAT } from '@slowwave/engine-testing';
import type { KeyCheck, Principal } from '@slowwave/http';
import { expect, test } from 'vitest';
import type { SearchDeps } from './deps.ts';
import { searchBench } from './testing/bench.ts';

const SCOPES: Readonly<Record<string, Principal['scopes']>> = { manager: ['search', 'manage'], subject: ['subject'] };

/**
 * Keys are called after what they are bound to: "user:ann", "app:shop", "all"; "manager" may change memories, too, and
 * "subject:ann" is Ann herself.
 */
const keys: KeyCheck = {
  any: async () => true,
  check: async (text) => {
    const [kind = '', id = null] = text.split(':');
    const bound = { userId: kind === 'app' ? null : id, appId: kind === 'app' ? id : null };
    return {
      kind: 'taken',
      principal: {
        keyId: text,
        tenant: 'default',
        scopes: SCOPES[kind] ?? ['search'],
        ...bound,
      },
    };
  },
};

async function bench(given: Partial<SearchDeps> = {}) {
  const made = await searchBench({ keys, ...given });
  const { app, engine, writer } = made;
  const as = (key: string) => {
    // A page of ours sends the latter, and so can anybody: it gives no rights.
    const headers = { authorization: `Bearer ${key}`, 'x-slowwave-console': '1' };
    const get = async (url: string) => (await app.inject({ method: 'GET', url, headers })).json();
    const post = async (url: string, payload: object) =>
      (await app.inject({ method: 'POST', url, headers, payload })).json();
    return {
      ...{ get, post },
      search: (body: object = {}) => post('/v1/search', { user_id: 'ann', query: 'Where does Ann live?', ...body }),
      context: (body: object = {}) => post('/v1/context', { user_id: 'ann', query: 'Where does Ann live?', ...body }),
    };
  };
  const said = async (text: string, appId: string | null = null) => {
    await engine.post([text], { scope: { appId } });
    await engine.run();
    engine.tools.advance(60_000);
  };
  const remove = (id: string) => writer.remove(DEFAULT_TENANT, id);
  return { ...made, ...as('all'), as, said, remove };
}

test('a search says which receipt shows later what it told, as the ledger has it', async () => {
  const { search, get, said, engine } = await bench();
  await said('Ann lives in Berlin');
  const { receipt_id, results } = await search({ filters: { created_at: { gte: '2020-01-01' } }, app_id: undefined });
  const [hit] = results;
  expect(await get(`/v1/receipts/${receipt_id}`)).toEqual({
    ...{ id: receipt_id, route: 'search', user_id: 'ann', agent_id: null, run_id: null, app_id: null },
    ...{ created_at: new Date(engine.tools.now()).toISOString(), question: 'Where does Ann live?' },
    ...{ filters: { created_at: { gte: '2020-01-01' } }, as_of: null, position: 1, outcome: null },
    told: [
      {
        ...{ kind: 'memory', id: hit.id, version: 1, memory: 'Ann lives in Berlin', current: true },
        ...{ valid_from: hit.valid_from, invalid_at: null },
      },
    ],
  });
});

test('messages that were told are shown, too', async () => {
  const { search, get, said } = await bench();
  await said('Ann lives in Berlin');
  const { receipt_id, results, messages } = await search({ include: ['messages'], as_of: '2030-01-01T00:00:00Z' });
  const { told, as_of } = await get(`/v1/receipts/${receipt_id}`);
  expect(told[0]).toMatchObject({ kind: 'memory', id: results[0].id });
  expect(told.slice(1)).toMatchObject([
    { kind: 'message', message_id: messages[0].message_id, content: 'Ann lives in Berlin' },
  ]);
  expect(as_of).toBe('2030-01-01T00:00:00.000Z');
});

test('a context tells what it cites, in its order', async () => {
  const { context, get, said } = await bench();
  await said('Ann lives in Berlin');
  await said('Ann likes green tea');
  const { receipt_id, memory_ids } = await context({ cut: 'none', run_id: undefined });
  const { route, told } = await get(`/v1/receipts/${receipt_id}`);
  expect([route, told.map(({ id }: { id: string }) => id)]).toEqual(['context', memory_ids]);
  const nothing = await context({ query: undefined, sections: ['profile'] });
  expect(await get(`/v1/receipts/${nothing.receipt_id}`)).toMatchObject({ question: null, told: [] });
});

test('a recall tells what it cites', async () => {
  const first = await bench();
  await first.said('Ann lives in Berlin');
  const { ledger, index, tools, settings } = first.engine.deps;
  const chat = fakeChat({
    recall_step: ({ memories }) => ({
      answer: 'In Berlin.',
      cites: (memories as unknown as { id: string }[]).map(({ id }) => id),
    }),
  });
  const reader = { ledger, tools, settings, chat, meter: silentMeter, ...ONE_CHAT };
  const { post, get } = await bench({ ledger, index, reader });
  const { receipt_id, citations } = await post('/v1/recall', { user_id: 'ann', query: 'where does Ann live' });
  expect(await get(`/v1/receipts/${receipt_id}`)).toMatchObject({
    ...{ route: 'recall', question: 'where does Ann live' },
    told: [{ kind: 'memory', id: citations[0].id, memory: 'Ann lives in Berlin' }],
  });
});

test('what was told is shown as it was told then, and said to hold no longer', async () => {
  const { search, get, said } = await bench();
  await said('Ann lives in Berlin');
  const { receipt_id } = await search();
  await said('Ann lives in Rome');
  expect((await get(`/v1/receipts/${receipt_id}`)).told).toMatchObject([
    { memory: 'Ann lives in Berlin', version: 1, current: false },
  ]);
  expect((await get(`/v1/receipts/${(await search()).receipt_id}`)).told).toMatchObject([
    { memory: 'Ann lives in Rome', version: 2, current: true },
  ]);
});

test('what was forgotten since is only named, and the question that told it is gone', async () => {
  const { search, get, said, remove } = await bench();
  await said('Ann lives in Berlin');
  const { receipt_id, results } = await search({ filters: { created_at: { gte: '2020-01-01' } } });
  await remove(results[0].id);
  const shown = await get(`/v1/receipts/${receipt_id}`);
  expect(shown).toMatchObject({ told: [{ id: results[0].id, forgotten: true }], question: null, filters: null });
  expect(JSON.stringify(shown)).not.toContain('Berlin');
});

test('who was told a memory is listed, also after it was deleted', async () => {
  const { search, context, get, said, remove } = await bench();
  await said('Ann lives in Berlin');
  const first = await search();
  const { id } = first.results[0];
  await said('Ann lives in Rome');
  const second = await context();
  await search({ query: 'What is the capital of France?' });
  const told = async () =>
    (await get(`/v1/memories/${id}/receipts`)).results.map((one: Record<string, unknown>) => [one.id, one.versions]);
  const both = [
    [second.receipt_id, [2]],
    [first.receipt_id, [1]],
  ];
  expect(await told()).toEqual(both);
  await remove(id);
  expect(await told()).toEqual(both);
  const page = await get(`/v1/memories/${id}/receipts?limit=1`);
  expect([page.results.length, page.next_cursor === null]).toEqual([1, false]);
  expect((await get('/v1/memories/mem_none/receipts')).code).toBe('not_found');
});

test('an outcome is credited to what was told, within bounds, and taken back', async () => {
  const { search, get, post, said } = await bench();
  await said('Ann lives in Berlin');
  const { receipt_id, results } = await search();
  const judged = (outcome: string | null) => post(`/v1/receipts/${receipt_id}/outcome`, { outcome });
  const credit = async () => (await get(`/v1/memories/${results[0].id}/receipts`)).credit;
  expect(await credit()).toBe(0);
  expect((await judged('good')).outcome).toBe('good');
  expect(await credit()).toBe(0.25);
  await judged('bad');
  expect(await credit()).toBe(-0.25);
  expect((await judged(null)).outcome).toBeNull();
  expect(await credit()).toBe(0);
  for (let i = 0; i < 100; i += 1)
    await post(`/v1/receipts/${(await search()).receipt_id}/outcome`, { outcome: 'bad' });
  const worst = await credit();
  expect([worst < -0.9, worst > -1]).toEqual([true, true]);
  await said('Ann lives in Rome');
  expect(await credit()).toBe(0);
  expect((await post('/v1/receipts/rcp_none/outcome', { outcome: 'good' })).code).toBe('not_found');
  expect((await judged('great')).code).toBe('invalid_request');
});

test('a key for one user finds receipts of that user alone', async () => {
  const { as, said, search } = await bench();
  await said('Ann lives in Berlin');
  const { receipt_id, results } = await search();
  const paths = [`/v1/receipts/${receipt_id}`, `/v1/memories/${results[0].id}/receipts`];
  for (const path of paths) {
    expect((await as('user:ann').get(path)).status).toBeUndefined();
    expect((await as('user:bob').get(path)).code).toBe('not_found');
  }
  const outcome = (key: string) => as(key).post(`/v1/receipts/${receipt_id}/outcome`, { outcome: 'good' });
  expect([(await outcome('user:bob')).code, (await outcome('user:ann')).outcome]).toEqual(['not_found', 'good']);
});

test('a key for one app finds what keys for that app were told, as the app knows it', async () => {
  const { as, said } = await bench();
  await said('Ann lives in Berlin', 'shop');
  await said('Ann lives in Rome', 'health');
  const own = await as('app:shop').search({ app_id: 'shop' });
  const others = await as('app:health').search({ app_id: 'health' });
  const free = await as('all').search({ app_id: 'shop' });
  const read = async (key: string, { receipt_id }: { receipt_id: string }) => as(key).get(`/v1/receipts/${receipt_id}`);
  expect((await read('app:shop', own)).told).toMatchObject([{ memory: 'Ann lives in Berlin', current: true }]);
  expect((await read('app:shop', others)).code).toBe('not_found');
  expect((await read('app:shop', free)).code).toBe('not_found');
  expect((await read('all', own)).told).toMatchObject([{ memory: 'Ann lives in Berlin', current: false }]);
  const { id } = own.results[0];
  const told = (await as('app:shop').get(`/v1/memories/${id}/receipts`)).results;
  expect(told.map((one: { id: string }) => one.id)).toEqual([own.receipt_id]);
});

test('there is no receipt of an owner who has nothing, or where none are kept', async () => {
  const { search, context } = await bench();
  expect([(await search()).receipt_id, (await context()).receipt_id]).toEqual([null, null]);
  const off = await bench({ noteReceipt: null });
  await off.said('Ann lives in Berlin');
  expect([(await off.search()).receipt_id, (await off.context()).receipt_id]).toEqual([null, null]);
});

test('an answer does not wait for its receipt', async () => {
  const first = await bench();
  await first.said('Ann lives in Berlin');
  const { ledger, index } = first.engine.deps;
  const receipts = { ...ledger.receipts, append: () => new Promise<never>(() => {}) };
  const { search, context, get } = await bench({ ledger: { ...ledger, receipts }, index });
  const ids = [(await search()).receipt_id, (await context()).receipt_id];
  expect(ids.map((id) => id.slice(0, 4))).toEqual(['rcp_', 'rcp_']);
  expect((await get(`/v1/receipts/${ids[0]}`)).code).toBe('not_found');
});

test('whoever may change memories may look at them without a receipt, and no conversation remembers it', async () => {
  const { as, context, get, said } = await bench();
  await said('Ann lives in Berlin');
  const manager = as('manager');
  const looked = await manager.search({ receipt: false });
  expect(looked.results).toHaveLength(1);
  expect(looked.receipt_id).toBeNull();
  const first = await manager.context({ receipt: false, conversation_id: 'c1' });
  expect(first.receipt_id).toBeNull();
  const { results } = await get(`/v1/memories/${looked.results[0].id}/receipts`);
  expect(results).toEqual([]);
  await said('Ann lives by the river');
  const after = await context({ conversation_id: 'c1' });
  const { text } = await context({ conversation_id: 'c2' });
  expect(after.text).toBe(text);
});

test('whoever memories are about looks at them without a receipt', async () => {
  const { as, said } = await bench();
  await said('Ann lives in Berlin');
  const { results, receipt_id } = await as('subject:ann').search({ receipt: false });
  expect([results.length, receipt_id]).toEqual([1, null]);
});

test.each(['search', 'context', 'recall'])('a key that only reads leaves a receipt of each %s', async (path) => {
  const { as, said } = await bench();
  await said('Ann lives in Berlin');
  for (const key of ['all', 'user:ann', 'app:shop']) {
    const app = key === 'app:shop' ? { app_id: 'shop' } : {};
    const body = { user_id: 'ann', query: 'Where does Ann live?', receipt: false, ...app };
    expect(await as(key).post(`/v1/${path}`, body)).toMatchObject({ status: 403, code: 'scope_missing' });
  }
});
