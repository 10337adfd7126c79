import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Answer, call } from './client.ts';
import { type Setup, standalone } from './setups.ts';

/** What mem0's older clients and other programs send, route by route and field by field. */

let setup: Setup;
beforeAll(async () => {
  setup = await standalone();
});
afterAll(() => setup.close());

const mem0 = async (method: string, path: string, body?: object): Promise<Answer> =>
  call(method, `${setup.console}/mem0${path}`, body === undefined ? {} : { body });

const said = (content: string) => [{ role: 'user', content }];

/** Adds a memory as it is. */
async function added(ids: object, text: string): Promise<string> {
  const { body } = await mem0('POST', '/v3/memories/add/', { ...ids, messages: said(text), infer: false });
  return body.results[0].id;
}

const textsOf = ({ body }: Answer): string[] =>
  (Array.isArray(body) ? body : (body.results ?? expect.unreachable(body.error)))
    .map(({ memory }: { readonly memory: string }) => memory)
    .sort();

test('clients of the first version add, search and list', async () => {
  const tracked = { org_id: 'o', project_id: 'p', source: 'CLI', version: 'v2', immutable: false };
  const adding = { messages: said('I live in Oslo'), user_id: 'v1', ...tracked };
  const queued = await mem0('POST', '/v1/memories/', adding);
  expect(queued).toMatchObject({ status: 200, body: [{ status: 'PENDING', event_id: expect.any(String) }] });
  const settled = async () => (await mem0('GET', `/v1/event/${queued.body[0].event_id}/`)).body.status;
  await expect.poll(settled).toBe('SUCCEEDED');
  const wrapped = await mem0('POST', '/v1/memories/', { ...adding, output_format: 'v1.1', async_mode: false });
  expect(wrapped.body.results).toMatchObject([{ event: 'NONE', memory: 'User lives in Oslo' }]);

  const asking = { query: 'where does she live', user_id: 'v1', ...tracked };
  expect((await mem0('POST', '/v1/memories/search/', asking)).body).toMatchObject([{ memory: 'User lives in Oslo' }]);
  const inResults = { results: [{ memory: 'User lives in Oslo' }] };
  expect((await mem0('POST', '/v1/memories/search/', { ...asking, output_format: 'v1.1' })).body).toMatchObject(
    inResults,
  );
  expect((await mem0('GET', '/v1/memories/?user_id=v1&org_id=o')).body).toMatchObject([{ user_id: 'v1' }]);
  expect((await mem0('GET', '/v1/memories/?user_id=v1&page=1&page_size=50')).body).toMatchObject({
    count: 1,
    ...inResults,
  });
});

test('clients of the second version search and list by filters', async () => {
  await added({ user_id: 'v2' }, 'Vera plays chess.');
  const filters = { AND: [{ user_id: 'v2' }] };
  expect((await mem0('POST', '/v2/memories/search/', { query: 'chess', filters, top_k: 5 })).body).toHaveLength(1);
  expect((await mem0('POST', '/v2/memories/', { filters })).body).toHaveLength(1);
  const paged = await mem0('POST', '/v2/memories/?page=1&page_size=2', { filters, fields: ['memory'] });
  expect(paged.body).toMatchObject({ count: 1, results: [{ id: expect.any(String), memory: 'Vera plays chess.' }] });
  expect(Object.keys(paged.body.results[0]).sort()).toEqual(['id', 'memory']);
});

test('several owners are asked one by one, and each memory is shown once', async () => {
  await added({ user_id: 'ann', run_id: 'r1' }, 'Ann likes green tea.');
  await added({ user_id: 'ben' }, 'Ben likes black tea.');
  await added({ agent_id: 'bot' }, 'The bot recommends white tea.');
  await added({ user_id: 'cat' }, 'Cat likes red tea.');
  const found = async (filters: object) => {
    const searched = textsOf(await mem0('POST', '/v3/memories/search/', { query: 'which tea', filters, top_k: 10 }));
    expect(textsOf(await mem0('POST', '/v3/memories/', { filters }))).toEqual(searched);
    return searched;
  };
  const [ann, ben, bot] = ['Ann likes green tea.', 'Ben likes black tea.', 'The bot recommends white tea.'];
  expect(await found({ OR: [{ user_id: 'ann' }] })).toEqual([ann]);
  expect(await found({ OR: [{ user_id: 'ann' }, { agent_id: 'bot' }] })).toEqual([ann, bot]);
  expect(await found({ $or: [{ user_id: 'ann' }, { AND: [{ userId: 'ann' }, { run_id: 'r1' }] }] })).toEqual([ann]);
  expect(await found({ user_id: { in: ['ann', 'ben'] } })).toEqual([ann, ben]);
  expect(await found({ AND: [{ OR: [{ user_id: 'ann' }, { user_id: 'ben' }] }, { run_id: 'r1' }] })).toEqual([ann]);
  expect(
    await found({
      AND: [{ user_id: '*' }, { OR: [{ memory: { contains: 'red' } }, { memory: { contains: 'green' } }] }],
    }),
  ).toEqual([ann, 'Cat likes red tea.']);
  expect(await found({ AND: [{ user_id: '*' }, { run_id: 'r1' }] })).toEqual([ann]);
  expect(await found({ agent_id: '*' })).toEqual([bot]);
  expect(
    (
      await mem0('POST', '/v3/memories/search/', {
        query: 'tea',
        filters: { user_id: { in: ['ann', 'ben'] } },
        top_k: 1,
      })
    ).body.results,
  ).toHaveLength(1);
});

test('what is about too many owners, or nobody, is refused', async () => {
  const search = (filters: object) => mem0('POST', '/v3/memories/search/', { query: 'tea', filters });
  const many = Array.from({ length: 21 }, (_, i) => `u${i}`);
  expect(await search({ user_id: { in: many } })).toMatchObject({
    status: 400,
    body: { error: expect.stringContaining('at most 20') },
  });
  const twice = { AND: [{ OR: many.map((user_id) => ({ user_id })) }, { OR: many.map((run_id) => ({ run_id })) }] };
  expect(await search(twice)).toMatchObject({ status: 400 });
  for (const nobody of [
    {},
    { OR: [] },
    { OR: [{ user_id: 'ann' }, { memory: { contains: 'a' } }] },
    { NOT: [{ user_id: 'ann' }] },
  ])
    expect(await search(nobody)).toMatchObject({ status: 400, body: { detail: expect.any(String) } });
});

test('an owner may stand in the filters of an add, and options that are off are let by', async () => {
  const off = {
    timezone: null,
    custom_categories: null,
    enable_graph: false,
    prompt_profile_id: null,
    custom_instructions: '',
  };
  const add = { messages: said('I sing'), filters: { user_id: 'typed' }, async_mode: false, ...off };
  expect(await mem0('POST', '/v3/memories/add/', add)).toMatchObject({ status: 200, body: { status: 'SUCCEEDED' } });
  expect(textsOf(await mem0('GET', '/memories?user_id=typed&top_k=10&show_expired=false'))).toHaveLength(1);
  expect(
    await mem0('POST', '/search', {
      query: 'song',
      user_id: 'typed',
      rerank: false,
      explain: false,
      show_expired: false,
    }),
  ).toMatchObject({ status: 200 });
  expect(await mem0('POST', '/v3/memories/add/', { ...add, shade: 'green' })).toMatchObject({
    status: 400,
    body: { error: expect.stringContaining('shade') },
  });
});

test('categories of one add are those of its memories, and filters are taken in all of mem0’s words', async () => {
  const custom_categories = [{ Sport: 'what they do' }, { misc: 'all else' }];
  const add = { messages: said('I play chess'), user_id: 'cora', async_mode: false, custom_categories };
  expect(await mem0('POST', '/v3/memories/add/', add)).toMatchObject({ status: 200, body: { status: 'SUCCEEDED' } });
  const [{ categories, created_at }] = (await mem0('POST', '/v3/memories/', { filters: { user_id: 'cora' } })).body
    .results;
  expect(['sport', 'misc']).toContain(categories[0]);
  const day = new Date(created_at).toISOString().slice(0, 10);
  const kept = [{ text: 'CHESS' }, { keywords_search: 'chess' }, { created_at: { in: ['2020-01-01', day] } }];
  for (const one of kept)
    expect(textsOf(await mem0('POST', '/v3/memories/', { filters: { user_id: 'cora', ...one } }))).toHaveLength(1);
  const left = { user_id: 'cora', created_at: { in: ['2020-01-01'] } };
  expect(textsOf(await mem0('POST', '/v3/memories/', { filters: left }))).toEqual([]);
});

test('typed clients delete by filters, which may hold ids alone', async () => {
  await added({ user_id: 'ted' }, 'Ted rows.');
  const deletion = (filters: string) => mem0('DELETE', `/v1/memories/?filters=${encodeURIComponent(filters)}`);
  const narrowed = await deletion('{"user_id": "ted", "metadata": {"a": 1}}');
  expect(narrowed).toMatchObject({ status: 400, body: { error: expect.stringContaining('only ids') } });
  expect((await deletion("{'user_id': 'ted'}")).body).toMatchObject({ deleted: 1 });
  expect((await deletion('{"user_id": "ted"}')).body).toMatchObject({ deleted: 0 });
});

test('rerank without a reranker answers in the order of the search, and says so', async () => {
  await added({ user_id: 'rita' }, 'Rita rows.');
  const found = await mem0('POST', '/v3/memories/search/', {
    query: 'sport',
    filters: { user_id: 'rita' },
    rerank: true,
  });
  expect(found).toMatchObject({
    status: 200,
    body: { results: [{ memory: 'Rita rows.' }], warning: expect.stringContaining('no reranker') },
  });
});

test('the history of a deleted memory is still told', async () => {
  const id = await added({ user_id: 'hal' }, 'Hal sails.');
  await mem0('DELETE', `/v1/memories/${id}/`);
  expect((await mem0('GET', `/v1/memories/${id}/history/`)).body).toMatchObject([
    { event: 'ADD' },
    { event: 'DELETE' },
  ]);
  expect((await mem0('GET', '/v1/memories/mem_nobody/history/')).status).toBe(404);
});

test('several memories change their texts and metadata at once', async () => {
  const id = await added({ user_id: 'bea' }, 'Bea bakes.');
  const change = { memory_id: id, metadata: { from: 'batch' } };
  expect(await mem0('PUT', '/v1/batch/', { memories: [change], source: 'CLI' })).toMatchObject({ status: 200 });
  expect((await mem0('GET', `/v1/memories/${id}/`)).body).toMatchObject({
    memory: 'Bea bakes.',
    metadata: { from: 'batch' },
  });
});

test('an export takes its schema as text, and its owner beside it', async () => {
  await added({ user_id: 'eli' }, 'Eli skis.');
  const { body } = await mem0('POST', '/v1/exports/', { schema: '{"type":"object"}', user_id: 'eli' });
  expect((await mem0('POST', '/v1/exports/get/', { memory_export_id: body.id })).body.memories).toHaveLength(1);
  expect((await mem0('POST', '/v1/exports/get/', { user_id: 'eli' })).body.memories).toHaveLength(1);
});

test('a summary says what is known of one owner', async () => {
  await mem0('POST', '/v1/memories/', { user_id: 'sam', messages: said('My name is Sam'), async_mode: false });
  const { body } = await mem0('POST', '/v1/summary/', { filters: { user_id: 'sam' } });
  expect(body.summary).toContain("User's name is Sam");
});

test('a project is changed by clients that name it in the body, too', async () => {
  const at = '/api/v1/orgs/organizations/default/projects/default/';
  const change = { org_id: 'default', project_id: 'default', custom_instructions: 'Remember hobbies.' };
  expect(await mem0('PATCH', at, change)).toMatchObject({ status: 200 });
  expect(await mem0('PATCH', at, { ...change, custom_instructions: '' })).toMatchObject({ status: 200 });
  expect((await mem0('GET', at)).body.custom_instructions).toBeNull();
});

test('"*" deletes the memories of everybody of the kind, and of nobody else', async () => {
  for (const run_id of ['one', 'two']) await added({ run_id }, `In ${run_id}.`);
  await added({ user_id: 'keeper' }, 'Kept.');
  expect((await mem0('DELETE', '/v1/memories/?run_id=*&app_id=none')).body.message).toContain('(0)');
  expect((await mem0('DELETE', '/v1/memories/?run_id=*')).body.deleted).toBeGreaterThanOrEqual(2);
  for (const run_id of ['one', 'two']) expect(textsOf(await mem0('GET', `/v1/memories/?run_id=${run_id}`))).toEqual([]);
  expect(textsOf(await mem0('GET', '/v1/memories/?user_id=keeper'))).toEqual(['Kept.']);
});

test('"*" beside an owner deletes of it only what has such an id', async () => {
  await added({ user_id: 'nia' }, 'Nia reads.');
  await added({ user_id: 'nia', agent_id: 'coach' }, 'Nia runs.');
  expect((await mem0('DELETE', '/v1/memories/?user_id=nia&agent_id=*')).body.message).toContain('(1)');
  expect(textsOf(await mem0('GET', '/v1/memories/?user_id=nia'))).toEqual(['Nia reads.']);
});

test('a blank id deletes nothing of whoever is named beside it', async () => {
  await added({ run_id: 'blank' }, 'In blank.');
  expect(await mem0('DELETE', '/v1/memories/?user_id=&run_id=blank')).toMatchObject({ status: 400 });
  expect(textsOf(await mem0('GET', '/v1/memories/?run_id=blank'))).toEqual(['In blank.']);
});

test('adds are listed as events, and routes that there are not are refused as by mem0', async () => {
  const id = (await mem0('POST', '/v1/memories/', { messages: said('I paint'), user_id: 'eva' })).body[0].event_id;
  expect((await mem0('GET', '/v1/events/?page=1')).body.results).toContainEqual(expect.objectContaining({ id }));
  const nowhere = await mem0('GET', '/v1/nowhere/');
  expect(nowhere).toMatchObject({
    status: 404,
    body: { error: expect.stringContaining('/v1/nowhere'), detail: expect.any(String) },
  });
});
