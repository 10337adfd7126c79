import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Answer, call } from './client.ts';
import { type Setup, standalone } from './setups.ts';

/** mem0 finds and deletes memories by each of their ids: here what users' memories were said under, too. */

let setup: Setup;
beforeAll(async () => {
  setup = await standalone();
});
afterAll(() => setup.close());

const mem0 = async (method: string, path: string, body?: object): Promise<Answer> =>
  call(method, `${setup.console}/mem0${path}`, body === undefined ? {} : { body });

/** Says something, which is consolidated before the answer. */
async function say(ids: object, content: string): Promise<void> {
  const body = { ...ids, messages: [{ role: 'user', content }], async_mode: false };
  expect((await mem0('POST', '/v1/memories/', body)).status).toBe(200);
}

const textsOf = ({ body }: Answer): string[] =>
  (body.results ?? expect.unreachable(body.error)).map(({ memory }: { readonly memory: string }) => memory).sort();
const listed = async (filters: object) => textsOf(await mem0('POST', '/v3/memories/', { filters }));
const searched = async (filters: object) =>
  textsOf(await mem0('POST', '/v3/memories/search/', { query: 'where or what', filters, top_k: 50 }));

test.each(['agent', 'run', 'app'])(
  'what users said under %s is found, exported and listed by its id alone',
  async (kind) => {
    const id = { [`${kind}_id`]: `f-${kind}` };
    await say({ user_id: `ann-${kind}`, ...id }, 'I live in Oslo');
    await say({ user_id: `bob-${kind}`, ...id }, 'I live in Rome');
    await say({ user_id: `bob-${kind}` }, 'I have a cat');
    const both = ['User lives in Oslo', 'User lives in Rome'];
    expect(await listed(id)).toEqual(both);
    expect(await searched(id)).toEqual(both);
    expect(await listed({ AND: [id, { user_id: `bob-${kind}` }] })).toEqual(['User lives in Rome']);
    expect(await listed({ AND: [id, { memory: { contains: 'Oslo' } }] })).toEqual(['User lives in Oslo']);
    expect(await listed({ OR: [id, { user_id: `bob-${kind}` }] })).toHaveLength(3);
    const exported = await mem0('POST', '/v1/exports/get/', { filters: id });
    expect(exported.body.memories).toHaveLength(2);
    const { results } = (await mem0('GET', '/v1/entities/')).body;
    expect(results).toContainEqual(expect.objectContaining({ type: kind, name: `f-${kind}`, total_memories: 2 }));
  },
);

test.each(['agent', 'run', 'app'])(
  'delete_all of %s takes what was said under it, and keeps what was said elsewhere',
  async (kind) => {
    const [id, other] = [`d-${kind}`, `e-${kind}`];
    const user_id = `cyd-${kind}`;
    await say({ user_id, [`${kind}_id`]: id }, 'I have a cat');
    await say({ user_id, [`${kind}_id`]: id }, 'I live in Oslo');
    await say({ user_id, [`${kind}_id`]: other }, 'I live in Oslo');
    const { status, body } = await mem0('DELETE', `/v1/memories/?${kind}_id=${id}`);
    expect({ status, body }).toMatchObject({ status: 200, body: { deleted: 1, kept: 1 } });
    expect(body.message).toContain('1 deleted, 1 kept');
    expect(await listed({ [`${kind}_id`]: id })).toEqual([]);
    expect(await listed({ user_id })).toEqual(['User lives in Oslo']);
    expect(await listed({ [`${kind}_id`]: other })).toEqual(['User lives in Oslo']);
    expect((await mem0('DELETE', `/v1/memories/?${kind}_id=${id}`)).body).toMatchObject({ deleted: 0, kept: 0 });
  },
);

test.each(['agent', 'run', 'app'])('deleting %s as an entity deletes what users said under it', async (kind) => {
  const user_id = `dan-${kind}`;
  await say({ user_id, [`${kind}_id`]: `g-${kind}` }, 'I have a cat');
  const { status, body } = await mem0('DELETE', `/v2/entities/${kind}/g-${kind}/`);
  expect({ status, body }).toMatchObject({ status: 200, body: { message: expect.stringContaining('1 were deleted') } });
  expect(await listed({ user_id })).toEqual([]);
  const { results } = (await mem0('GET', '/v1/entities/')).body;
  expect(results).not.toContainEqual(expect.objectContaining({ type: kind, name: `g-${kind}` }));
});

test('of a run in which several spoke, all of it goes', async () => {
  for (let i = 0; i < 3; i += 1) await say({ user_id: `eve-${i}`, run_id: 'shared' }, 'I have a dog');
  await say({ run_id: 'shared' }, 'I have a bird');
  expect((await mem0('DELETE', '/v1/memories/?run_id=shared')).body).toMatchObject({ deleted: 4, kept: 0 });
  expect(await listed({ run_id: 'shared' })).toEqual([]);
});

test('a search by an id under which more than twenty people spoke finds what it owns itself, and says to name them', async () => {
  const crowd = Array.from({ length: 21 }, (_, i) => `fan-${i}`);
  for (const owner of [...crowd.map((user_id) => ({ user_id })), {}]) {
    const body = {
      ...owner,
      app_id: 'arena',
      agent_id: 'host',
      messages: [{ role: 'user', content: 'We won.' }],
      infer: false,
    };
    expect((await mem0('POST', '/v3/memories/add/', body)).status).toBe(200);
  }
  expect(await listed({ app_id: 'arena' })).toHaveLength(22);
  expect(await mem0('POST', '/v3/memories/search/', { query: 'won', filters: { agent_id: 'host' } })).toMatchObject({
    body: { results: [{ agent_id: 'host', user_id: null }], warning: expect.stringContaining('name a user_id') },
  });
  expect(await mem0('POST', '/v3/memories/search/', { query: 'won', filters: { app_id: 'arena' } })).toMatchObject({
    status: 400,
    body: { error: expect.stringContaining('more than 20 owners') },
  });
});

test('"*" for each of the four ids deletes all that there is', async () => {
  await say({ user_id: 'zoe', app_id: 'last' }, 'I have a cat');
  const { status, body } = await mem0('DELETE', '/v1/memories/?user_id=*&agent_id=*&app_id=*&run_id=*');
  expect({ status, body }).toMatchObject({ status: 200, body: { deleted: expect.any(Number), kept: 0 } });
  expect(body.deleted).toBeGreaterThan(1);
  for (const kind of ['user_id', 'agent_id', 'run_id', 'app_id']) expect(await listed({ [kind]: '*' })).toEqual([]);
});
