import { DEFAULT_TENANT, type Memory, type MemoryChange, sweepOutbox } from '@slowwave/engine';
import { confirmed, deleted, NEVER, updated } from '@slowwave/engine-testing';
import { expect, test } from 'vitest';
import { searchBench } from './testing/bench.ts';

const DAY_MS = 86_400_000;

test('the memories of an owner are listed newest first, page by page', async () => {
  const { app, engine, remember } = await searchBench();
  for (const text of ['one', 'two', 'three']) {
    await remember(text);
    engine.tools.advance(1_000);
  }
  await remember('of bob', { user_id: 'bob' });
  const first = (await app.inject('/v1/memories?user_id=ann&limit=2')).json();
  const second = (await app.inject(`/v1/memories?user_id=ann&limit=2&cursor=${first.next_cursor}`)).json();
  const texts = [...first.results, ...second.results].map(({ memory }) => memory);
  expect(texts).toEqual(['three', 'two', 'one']);
  expect(second.next_cursor).toBeNull();
});

test('a cursor goes on with its own list alone', async () => {
  const { app, remember } = await searchBench();
  for (const text of ['one', 'two']) await remember(text);
  await remember('of bob', { user_id: 'bob' });
  const cursorOf = async (url: string): Promise<string> => (await app.inject(url)).json().next_cursor;
  const users = await cursorOf('/v1/users?limit=1');
  const memories = await cursorOf('/v1/memories?user_id=ann&limit=1');
  const code = async (url: string): Promise<unknown> => (await app.inject(url)).json().code;
  expect(await code(`/v1/users?limit=1&cursor=${users}`)).toBeUndefined();
  expect(await code(`/v1/users?limit=1&cursor=${memories}`)).toBe('invalid_cursor');
  expect(await code(`/v1/memories?user_id=ann&cursor=${users}`)).toBe('invalid_cursor');
});

test('one memory is shown as it holds, and no longer once it was deleted', async () => {
  const { app, writer, remember } = await searchBench();
  const id = await remember('Ann lives in Berlin');
  const shown = await app.inject(`/v1/memories/${id}`);
  expect(shown.json()).toMatchObject({ id, memory: 'Ann lives in Berlin', version: 1, categories: ['home'] });
  await writer.remove(DEFAULT_TENANT, id);
  const gone = await app.inject(`/v1/memories/${id}`);
  expect(gone.json()).toMatchObject({ status: 404, code: 'not_found' });
  expect(gone.json().detail).toContain(`/v1/memories/${id}/history`);
});

test('of a change that is to come a list, a search and the memory itself show the same version at any moment', async () => {
  const { app, engine, search, remember } = await searchBench();
  const { deps, tools } = engine;
  const id = await remember('Ann lives in Berlin');
  const monday = tools.now() + 3 * DAY_MS;
  const memory = (await deps.ledger.memories.get(DEFAULT_TENANT, id)) as Memory;
  tools.advance(1_000);
  const change = updated(tools, memory, { text: 'Ann lives in Paris', validFrom: monday });
  await deps.ledger.memories.write(DEFAULT_TENANT, { changes: [change], tombstones: [], now: tools.now() });
  await sweepOutbox(deps, NEVER);
  const shown = async () => {
    const found = (await search({ query: 'where does Ann live?', user_id: 'ann' })).json().results;
    const listed = (await app.inject('/v1/memories?user_id=ann')).json().results;
    const ones = [...found, ...listed, (await app.inject(`/v1/memories/${id}`)).json()];
    return ones.map((one) => [one.memory, one.version, one.valid_from, one.invalid_at]);
  };
  const [began, changes] = [memory.createdAt, monday].map((at) => new Date(at).toISOString());
  expect(await shown()).toEqual(Array(3).fill(['Ann lives in Berlin', 1, began, changes]));
  tools.set(monday - 1);
  expect(await shown()).toEqual(Array(3).fill(['Ann lives in Berlin', 1, began, changes]));
  tools.set(monday);
  expect(await shown()).toEqual(Array(3).fill(['Ann lives in Paris', 2, changes, null]));
});

test('a list as of a moment shows what a search as of it finds: former versions, what ended since, nothing deleted', async () => {
  const { app, engine, writer, search, remember } = await searchBench();
  const { deps, tools } = engine;
  const write = async (change: MemoryChange) => {
    await deps.ledger.memories.write(DEFAULT_TENANT, { changes: [change], tombstones: [], now: tools.now() });
    tools.advance(1_000);
  };
  const known = async (id: string) => (await deps.ledger.memories.get(DEFAULT_TENANT, id)) as Memory;
  const [home, left, gone] = [
    await remember('Ann lives in Berlin'),
    await remember('Ann works at Acme'),
    await remember('Ann owes money'),
  ];
  const then = new Date(tools.now()).toISOString();
  tools.advance(1_000);
  await write(updated(tools, await known(home), { text: 'Ann lives in Paris' }));
  await write(deleted(tools, await known(left)));
  await writer.remove(DEFAULT_TENANT, gone);
  await remember('Ann has a cat');
  await sweepOutbox(deps, NEVER);
  const listed = async (query: string): Promise<string[]> =>
    (await app.inject(`/v1/memories?user_id=ann${query}`))
      .json()
      .results.map(({ memory }: { memory: string }) => memory);
  const found = async (as_of: string): Promise<string[]> => {
    const asked = { query: 'Ann lives works owes has', user_id: 'ann', cut: 'none', as_of };
    return (await search(asked)).json().results.map(({ memory }: { memory: string }) => memory);
  };
  expect((await listed(`&as_of=${then}`)).sort()).toEqual(['Ann lives in Berlin', 'Ann works at Acme']);
  expect((await found(then)).sort()).toEqual(['Ann lives in Berlin', 'Ann works at Acme']);
  expect(await listed(`&as_of=${new Date(tools.now()).toISOString()}`)).toEqual(await listed(''));
  expect(await listed('&as_of=2001-01-01T00:00:00Z')).toEqual([]);
  const page = (await app.inject(`/v1/memories?user_id=ann&as_of=${then}&limit=1`)).json();
  expect([page.results.length, await listed(`&as_of=${then}&limit=1&cursor=${page.next_cursor}`)]).toEqual([
    ...[1, ['Ann lives in Berlin']],
  ]);
  expect(await listed(`&as_of=${then}&filters=${JSON.stringify({ memory: { contains: 'Acme' } })}`)).toEqual([
    'Ann works at Acme',
  ]);
});

test('what is to come is shown at once where nothing held before, by a list as by a search', async () => {
  const { app, engine, writer, search } = await searchBench();
  const given = { metadata: {}, category: null, immutable: false, expiresAt: null };
  const scope = { userId: 'ann', agentId: null, runId: null, appId: null };
  const validFrom = engine.tools.now() + DAY_MS;
  await writer.add(DEFAULT_TENANT, { ...given, scope, text: 'Ann moves to Oslo', validFrom });
  const found = (await search({ query: 'where does Ann move?', user_id: 'ann' })).json().results;
  const listed = (await app.inject('/v1/memories?user_id=ann')).json().results;
  expect([...found, ...listed].map(({ memory }) => memory)).toEqual(['Ann moves to Oslo', 'Ann moves to Oslo']);
});

test('the life of a memory is told from its first event, even after it was deleted', async () => {
  const { app, writer, remember } = await searchBench();
  const id = await remember('Ann lives in Berlin');
  await writer.change(DEFAULT_TENANT, id, { text: 'Ann lives in Paris' });
  await writer.remove(DEFAULT_TENANT, id);
  const { results } = (await app.inject(`/v1/memories/${id}/history`)).json();
  expect(results).toMatchObject([
    { event: 'ADD', version: 1, memory: 'Ann lives in Berlin', previous: null, actor: 'api' },
    { event: 'UPDATE', version: 2, memory: 'Ann lives in Paris', previous: 'Ann lives in Berlin' },
    { event: 'DELETE', version: 3, memory: null, previous: 'Ann lives in Paris' },
  ]);
});

test('the sources of a memory come with their neighbours on request', async () => {
  const { app, engine } = await searchBench();
  await engine.post([
    { role: 'assistant', content: 'Hello!' },
    'Ann lives in Berlin',
    { role: 'assistant', content: 'Nice.' },
  ]);
  await engine.run();
  const [memory] = await engine.memories();
  const sources = async (query: string) =>
    (await app.inject(`/v1/memories/${memory?.id}/sources${query}`)).json().results;
  expect(await sources('')).toMatchObject([{ content: 'Ann lives in Berlin', is_source: true }]);
  expect((await sources('?before=1&after=1')).map((source: { is_source: boolean }) => source.is_source)).toEqual([
    false,
    true,
    false,
  ]);
});

test('the sources of a memory show the words that it rests on as they stand there, and no others', async () => {
  const { app, engine } = await searchBench();
  await engine.post(['Well. Ann lives in Berlin, you know.', 'Ann likes tea']);
  await engine.run();
  const { ledger, tools } = engine.deps;
  const [memory] = await engine.memories();
  const [id = ''] = memory?.versions[0]?.details.sourceIds ?? [];
  if (memory === undefined) throw new Error('expected a memory');
  const quoting = (of: Memory, quote: string) =>
    confirmed(tools, of, { sourceIds: [id], details: { quote, sourceIds: [id] } });
  const first = quoting(memory, 'ann lives  in BERLIN');
  const second = quoting(first.memory, 'owes money to Bob');
  for (const change of [first, second]) {
    await ledger.memories.write(DEFAULT_TENANT, { changes: [change], tombstones: [], now: tools.now() });
  }
  const { results } = (await app.inject(`/v1/memories/${memory.id}/sources?after=1`)).json();
  expect(results.map(({ quotes }: { quotes: string[] }) => quotes)).toEqual([['Ann lives in Berlin'], []]);
});

test('a history says who said what it came from, and leads to the conversation around it', async () => {
  const { app, engine } = await searchBench();
  await engine.post(['Hello!', { role: 'user', name: 'Ann', content: 'Ann lives in Berlin' }, 'What a day.', 'Bye.']);
  await engine.run();
  const [memory] = await engine.memories();
  const [event] = (await app.inject(`/v1/memories/${memory?.id}/history`)).json().results;
  expect(event.sources).toEqual([{ message_id: expect.stringMatching(/^msg_/), role: 'user', name: 'Ann' }]);
  const near = async (around: string, reach = '') =>
    (await app.inject(`/v1/messages?around=${around}${reach}`)).json().results;
  const told = await near(event.id, '&before=1&after=1');
  expect(told).toMatchObject([
    { content: 'Hello!', is_asked: false },
    { content: 'Ann lives in Berlin', name: 'Ann', is_asked: true },
    { content: 'What a day.', is_asked: false },
  ]);
  const last = told.at(-1)?.message_id;
  expect(await near(last, '&before=0')).toMatchObject([{ message_id: last, is_asked: true }, { content: 'Bye.' }]);
  const found = { user_id: 'ann', query: 'Berlin', cut: 'none', include: ['history'] };
  const { results } = (await app.inject({ method: 'POST', url: '/v1/search', payload: found })).json();
  expect(results[0].history[0].sources).toEqual(event.sources);
});

test('a conversation around a message is as long as one answer holds: the nearest of it, and whether there is more', async () => {
  const { app, engine } = await searchBench();
  const around = async (id: string, reach: string) => (await app.inject(`/v1/messages?around=${id}${reach}`)).json();
  await engine.post(['first', 'x'.repeat(400_000), 'y'.repeat(400_000), 'middle', 'z'.repeat(400_000)]);
  const { ledger, tools } = engine.deps;
  const lane = await ledger.memories.laneOf(DEFAULT_TENANT, { kind: 'user', id: 'ann' }, tools.now());
  const messages = await ledger.contents.messages(lane, 0, 10);
  const middle = messages.find(({ content }) => content === 'middle')?.id ?? '';
  const { results, more } = await around(middle, '&before=3&after=1');
  expect([results.map((one: { content: string }) => one.content[0]), more]).toEqual([['y', 'm', 'z'], true]);
  const few = await around(middle, '&before=1&after=0');
  expect([few.results.length, few.more]).toEqual([2, false]);
});

test('an event of very many messages is shown with as many as one answer holds, each once', async () => {
  const { app, engine } = await searchBench();
  await engine.post(Array.from({ length: 230 }, (_, i) => `chat number ${i}`));
  await engine.post(['Ann lives in Berlin']);
  await engine.run();
  const { ledger, tools } = engine.deps;
  const [memory] = await engine.memories();
  if (memory === undefined) throw new Error('expected a memory');
  const sourceIds = (await ledger.contents.messages(memory.lane, 0, 230)).map(({ id }) => id);
  const change = confirmed(tools, memory, { sourceIds });
  await ledger.memories.write(DEFAULT_TENANT, { changes: [change], tombstones: [], now: tools.now() });
  const { results, more } = (await app.inject(`/v1/messages?around=${change.events[0]?.id}`)).json();
  expect([results.length, new Set(results.map((one: { message_id: string }) => one.message_id)).size, more]).toEqual([
    ...[200, 200, true],
  ]);
  expect(results.every((one: { is_asked: boolean }) => one.is_asked)).toBe(true);
});

test('owners are listed with what they have', async () => {
  const { app, remember } = await searchBench();
  await remember('Ann lives in Berlin');
  await remember('is polite', { agent_id: 'helper' });
  const { results } = (await app.inject('/v1/users')).json();
  expect(results).toEqual(
    expect.arrayContaining([
      expect.objectContaining({ kind: 'user', id: 'ann', memories: 1, pending: 0 }),
      expect.objectContaining({ kind: 'agent', id: 'helper', memories: 1 }),
    ]),
  );
});

test('owners are found by how their ids begin, the last active first if asked', async () => {
  const { app, engine, remember } = await searchBench();
  for (const user_id of ['ann', 'bob', 'anna', 'ann']) {
    await remember(`likes tea ${engine.tools.now()}`, { user_id });
    engine.tools.advance(1_000);
  }
  const ids = async (query: string): Promise<string[]> =>
    (await app.inject(`/v1/users?${query}`)).json().results.map(({ id }: { id: string }) => id);
  expect(await ids('id_prefix=ann')).toEqual(['anna', 'ann']);
  expect(await ids('id_prefix=ann&order=updated')).toEqual(['ann', 'anna']);
  expect(await ids('order=updated&limit=1')).toEqual(['ann']);
});

test('the counts add up', async () => {
  const { app, engine } = await searchBench();
  await engine.post(['Ann lives in Berlin']);
  await engine.run();
  await engine.post(['Ann likes tea']);
  const stats = (await app.inject('/v1/stats')).json();
  expect(stats.batches).toMatchObject({ accepted: 2, consolidated: 1, pending: 1, gap: 0 });
  expect(stats).toMatchObject({ memories: { live: 1, versions: 1 }, owners: 1, outbox: 0 });
  expect(stats.usage.calls).toBeGreaterThan(0);
});

test.each([
  ['/v1/memories', 400, 'invalid_request'],
  ['/v1/memories?app_id=x', 400, 'invalid_request'],
  ['/v1/memories?user_id=', 400, 'invalid_request'],
  ['/v1/memories?user_id=ann&limit=none', 400, 'invalid_request'],
  ['/v1/memories?user_id=ann&limit=-1', 400, 'invalid_request'],
  ['/v1/memories?user_id=ann&sort=up', 400, 'invalid_request'],
  ['/v1/memories?user_id=ann&cursor=x', 400, 'invalid_cursor'],
  ['/v1/memories/mem_unknown', 404, 'not_found'],
  ['/v1/memories/mem_unknown?expand=all', 400, 'invalid_request'],
  ['/v1/memories/mem_unknown/history', 404, 'not_found'],
  ['/v1/memories/mem_unknown/sources', 404, 'not_found'],
  ['/v1/memories/mem_unknown/sources?before=many', 400, 'invalid_request'],
  ['/v1/messages?around=msg_unknown', 404, 'not_found'],
  ['/v1/messages?around=evt_unknown', 404, 'not_found'],
  ['/v1/messages', 400, 'invalid_request'],
  ['/v1/messages?around=msg_unknown&before=51', 400, 'invalid_request'],
  ['/v1/memories/mem_unknown/future', 404, 'route_not_found'],
  ['/v1/users?cursor=x', 400, 'invalid_cursor'],
  ['/v1/users?limit=0', 400, 'invalid_request'],
  ['/v1/users?id_prefix=', 400, 'invalid_request'],
  ['/v1/users?order=random', 400, 'invalid_request'],
  ['/v1/memories?user_id=ann&as_of=yesterday', 400, 'invalid_request'],
  ['/v1/stats?all=1', 400, 'invalid_request'],
  ['/v1/search', 405, 'method_not_allowed'],
])('GET %s answers %i %s', async (url, status, code) => {
  const { app } = await searchBench();
  expect((await app.inject(url)).json()).toMatchObject({ status, code });
});
