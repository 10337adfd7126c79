import { MemoryClient } from '@slowwave/testkit/mem0';
import { expect, test } from 'vitest';
import { get, post } from './client.ts';
import { everythingAClientDoes } from './mem0-script.ts';
import { fourProcesses, type Setup, standalone } from './setups.ts';

test.each([
  ['in one process', standalone],
  ['in four processes', fourProcesses],
])("mem0's own client works with nothing but another host, %s", async (_, open) => {
  const setup = await open();
  try {
    await everythingAClientDoes(`${setup.console}/mem0`);
    await everythingSelfHosted(`${setup.console}/mem0/`);
    await findsByAnyId(setup);
    await erasesEntities(setup);
    await isAudited(setup.console);
    await keepsTenantsApart(setup.console);
  } finally {
    await setup.close();
  }
});

/** What was said in one app and again in another is one memory, found by either. */
async function findsByAnyId({ ingest, console }: Setup): Promise<void> {
  const messages = [{ role: 'user', content: 'I am allergic to peanuts' }];
  for (const app_id of ['shop', 'health']) {
    const body = { user_id: 'fay', app_id, messages, flush: true };
    expect((await post(`${ingest}/v1/batches?wait=60000`, body)).body.state).toBe('consolidated');
  }
  const ids = new Set<string>();
  for (const app_id of ['shop', 'health', 'bank']) {
    const filters = { AND: [{ user_id: 'fay' }, { app_id }] };
    const { results } = (await post(`${console}/mem0/v3/memories/search`, { query: 'peanuts', filters })).body;
    const { count } = (await post(`${console}/mem0/v3/memories`, { filters })).body;
    expect([app_id, results.length, count]).toEqual(app_id === 'bank' ? [app_id, 0, 0] : [app_id, 1, 1]);
    for (const { id } of results) ids.add(id);
  }
  expect(ids.size).toBe(1);
}

/** Of an agent and a run as of a user: what was said goes with what was remembered of it. */
async function erasesEntities({ ingest, search, console }: Setup): Promise<void> {
  for (const kind of ['user', 'agent', 'run']) {
    const owner = { [`${kind}_id`]: `erin/${kind}` };
    const messages = [{ role: 'user', content: 'I live in Oslo' }];
    const { body: batch } = await post(`${ingest}/v1/batches?wait=60000`, { ...owner, messages, flush: true });
    expect(batch.state).toBe('consolidated');
    const found = async () => {
      const { body } = await post(`${search}/v1/search`, { ...owner, query: 'Oslo', include: ['messages'] });
      return [...body.results, ...body.messages].length;
    };
    expect(await found()).toBeGreaterThan(1);
    const path = `${console}/mem0/v2/entities/${kind}/${encodeURIComponent(`erin/${kind}`)}/`;
    const deleted = await send('DELETE', path);
    expect(deleted).toMatchObject({ status: 200, body: { message: expect.stringContaining('deleted') } });
    expect([kind, await found()]).toEqual([kind, 0]);
    expect([kind, (await get(`${ingest}/v1/batches/${batch.id}`)).status]).toEqual([kind, 404]);
  }
  expect(await send('DELETE', `${console}/mem0/v2/entities/team/shop/`)).toMatchObject({ status: 404 });
}

/** What a client of mem0 changes is told of once, as the route of ours that does it. */
async function isAudited(base: string): Promise<void> {
  const { results } = (await send('GET', `${base}/v1/audit?by=loopback&limit=200`)).body;
  const actions = new Set(results.map(({ action }: { readonly action: string }) => action));
  expect([...actions]).toEqual(expect.arrayContaining(['POST /v1/batches', 'PATCH /v1/memories/{id}']));
  expect(JSON.stringify([...actions])).not.toContain('mem0');
}

/** From the first key on: who has the key of another tenant finds nothing of this one, and who has none nothing at all. */
async function keepsTenantsApart(base: string): Promise<void> {
  const client = (apiKey: string) => new MemoryClient({ apiKey, host: `${base}/mem0` });
  const { results } = (await client('any').add([{ role: 'user', content: 'Eve paints.' }], {
    userId: 'eve',
    infer: false,
  })) as never as Added;
  const own = await post(`${base}/v1/keys`, { name: 'operator', scopes: ['admin'] });
  const acmes = { name: 'acme', tenant: 'acme', scopes: ['ingest', 'search', 'manage'] };
  const made = await post(`${base}/v1/keys`, acmes, { authorization: `Bearer ${own.body.secret}` });
  const acme = client(made.body.secret);
  await expect(acme.get(results[0]?.id ?? '')).rejects.toMatchObject({ name: 'MemoryNotFoundError' });
  await expect(acme.update(results[0]?.id ?? '', { text: 'mine' })).rejects.toMatchObject({
    name: 'MemoryNotFoundError',
  });
  expect((await acme.getAll({ filters: { user_id: 'eve' } })).count).toBe(0);
  expect((await acme.users()).results).toEqual([]);
  const unkeyed = async () => (await send('GET', `${base}/mem0/v1/ping/`)).body.code;
  await expect.poll(unkeyed).toBe('unauthorized');
  await expect(client('sw_wrong').get('mem_1')).rejects.toMatchObject({ name: 'AuthenticationError' });
}

interface Added {
  readonly results: readonly { readonly id: string }[];
}

/** The paths of mem0's open-source server, slashes as they come. */
async function everythingSelfHosted(base: string): Promise<void> {
  const dee = { user_id: 'dee' };
  const added = await send('POST', `${base}/memories`, {
    messages: [{ role: 'user', content: 'I live in Rome' }],
    ...dee,
  });
  expect(added).toMatchObject({ status: 200, body: { results: [{ event: 'ADD', memory: 'User lives in Rome' }] } });
  const [{ id }] = added.body.results;
  const found = await send('POST', `${base}/search`, { query: 'where does she live', ...dee });
  expect(found.body.results[0]).toMatchObject({ id, memory: 'User lives in Rome' });
  expect((await send('GET', `${base}/memories?user_id=dee`)).body.results).toHaveLength(1);
  await send('PUT', `${base}/memories/${id}`, { text: 'Dee lives in Pisa' });
  expect((await send('GET', `${base}/memories/${id}/`)).body.memory).toBe('Dee lives in Pisa');
  expect((await send('GET', `${base}/memories/${id}/history`)).body).toHaveLength(2);
  await send('DELETE', `${base}/memories?user_id=dee`);
  expect((await send('GET', `${base}/memories?user_id=dee`)).body.results).toEqual([]);
  expect(await send('POST', `${base}/memories`, { messages: [], ...dee })).toMatchObject({
    status: 400,
    body: { error: expect.stringContaining('messages'), detail: expect.any(String) },
  });
}

// biome-ignore lint/suspicious/noExplicitAny: the test reads fields of many shapes and asserts what it finds
async function send(method: string, url: string, body?: object): Promise<{ status: number; body: any }> {
  const headers = { 'content-type': 'application/json' };
  const answer = await fetch(url, { method, headers, ...(body !== undefined && { body: JSON.stringify(body) }) });
  return { status: answer.status, body: await answer.json() };
}
