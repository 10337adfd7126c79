import { freePort } from '@slowwave/testkit';
import { type Host, overHttp, tryTo, use } from '@slowwave/testkit/mcp';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { call, done } from './client.ts';
import { startProxy } from './proxy-rules.ts';
import { fourProcesses, type Setup } from './setups.ts';

const STATIC = 'the-key-of-the-operator';
/** What is known of a key is believed for at most 5 s; the rest is for a busy machine. */
const NOTICED = { timeout: 60_000, interval: 250 };

describe('tools of models, in separate processes', () => {
  let setup: Setup;
  let proxy: Awaited<ReturnType<typeof startProxy>>;
  const hosts: Host[] = [];

  beforeAll(async () => {
    const port = await freePort();
    setup = await fourProcesses({ SLOWWAVE_API_KEY: STATIC, SLOWWAVE_URL: `http://127.0.0.1:${port}` });
    proxy = await startProxy(port, setup);
  });
  afterEach(async () => {
    await Promise.all(hosts.splice(0).map((host) => host.close()));
  });
  afterAll(async () => {
    await proxy.close();
    await setup.close();
  });

  const operator = { authorization: `Bearer ${STATIC}` };

  async function connected(headers: Readonly<Record<string, string>>): Promise<Host> {
    const host = await overHttp('auto', proxy.url, headers);
    hosts.push(host);
    return host;
  }

  async function made(given: object): Promise<{ id: string; secret: string }> {
    const body = { name: 'k', scopes: ['admin'], ...given };
    const answer = await call('POST', `${proxy.url}/v1/keys`, { body, headers: operator });
    expect(answer.status).toBe(201);
    return answer.body;
  }

  /** A host with a key of its own. */
  const withKey = async (given: object, more: Readonly<Record<string, string>> = {}) =>
    connected({ authorization: `Bearer ${(await made(given)).secret}`, ...more });

  /** Why messages with such a key and these headers are refused. */
  async function refusalOf(key: object, headers: Readonly<Record<string, string>>): Promise<string> {
    const { secret } = await made({ tenant: 'contrary', ...key });
    const sent = { authorization: `Bearer ${secret}`, accept: 'application/json, text/event-stream', ...headers };
    const answer = await call('POST', `${proxy.url}/mcp`, { body: LISTING, headers: sent });
    expect([answer.status, answer.body.code]).toEqual([403, 'key_bound']);
    return answer.body.detail;
  }

  async function remembered(host: Host, user_id: string, text: string): Promise<string> {
    const { data } = await use(host, 'add_memory', { user_id, text, graph: true, wait_seconds: 45 });
    expect(data).toMatchObject({ state: 'consolidated', events: [{ event: 'ADD' }] });
    return data.events[0].memory_id;
  }

  it('read in the search process, and write where the address of the whole API leads to', async () => {
    const host = await withKey({ tenant: 'whole' });
    const id = await remembered(host, 'ann', 'I live in Oslo');
    expect((await use(host, 'search_memories', { user_id: 'ann', query: 'where does she live?' })).text).toContain(id);
    await use(host, 'update_memory', { memory_id: id, text: 'User lives in Bergen' });
    expect((await use(host, 'memory_history', { memory_id: id })).text).toContain('Bergen');
    expect((await use(host, 'delete_memory', { memory_id: id })).data).toMatchObject({ deleted: 1 });
  });

  it('need a key where one is needed, and end with it', async () => {
    const headers = { accept: 'application/json, text/event-stream' };
    for (const authorization of [undefined, 'Bearer sw_key_unknown']) {
      const sent = { ...headers, ...(authorization && { authorization }) };
      const answer = await call('POST', `${proxy.url}/mcp`, { body: LISTING, headers: sent });
      expect([answer.status, answer.body.code]).toEqual([401, 'unauthorized']);
    }
    const { id, secret } = await made({ tenant: 'ends' });
    const host = await connected({ authorization: `Bearer ${secret}` });
    expect((await use(host, 'list_entities')).data.results).toEqual([]);
    await done(call('DELETE', `${proxy.url}/v1/keys/${id}?tenant=ends`, { headers: operator }));
    const listed = () => use(host, 'list_entities').then(String, (error: unknown) => String(error));
    await expect.poll(listed, NOTICED).toContain('revoked');
  });

  it('for one user neither read nor change anything of others, whoever names the user', async () => {
    const all = await withKey({ tenant: 'narrow' });
    const bobs = await remembered(all, 'bob', 'I live in Zanzibar');
    const anns = await remembered(all, 'ann', 'I live in Oslo');
    const bound = await withKey({ tenant: 'narrow', user_id: 'ann', scopes: ['ingest', 'search', 'manage'] });
    const narrowed = await withKey({ tenant: 'narrow' }, { 'x-slowwave-user': 'ann' });
    for (const host of [bound, narrowed]) {
      const tools = (await host.listTools()).tools.map(({ name }) => name);
      for (const name of tools) {
        for (const args of everything({ memory_id: bobs, user_id: 'bob' })) {
          const { text, data } = await tryTo(host, name, args[name] ?? {});
          expect([name, `${text}${JSON.stringify(data)}`.includes('Zanzibar')]).toEqual([name, false]);
        }
      }
      await expect(host.readResource({ uri: 'slowwave://users/bob/profile' })).rejects.toThrow('ann');
      await expect(host.getPrompt({ name: 'load_memory', arguments: { user_id: 'bob' } })).rejects.toThrow('ann');
      expect((await use(host, 'get_memory', { memory_id: anns })).text).toContain('Oslo');
      expect((await use(host, 'list_entities')).data.results).toEqual([{ kind: 'user', id: 'ann' }]);
    }
    expect((await use(all, 'get_memories', { user_id: 'bob' })).data.results).toMatchObject([{ id: bobs, version: 1 }]);
    expect((await use(bound, 'undo_last')).data.memories).toMatchObject([{ id: anns, after: null }]);
    const other = await withKey({ tenant: 'narrow', user_id: 'bob', scopes: ['manage'] }, { 'x-slowwave-user': 'bob' });
    expect((await use(other, 'undo_last')).data.memories).toMatchObject([{ id: bobs, after: null }]);
    const contrary = { user_id: 'ann', scopes: ['search'] };
    expect(await refusalOf(contrary, { 'x-slowwave-user': 'bob' })).toMatch(/"ann".*x-slowwave-user/);
  });

  it('are not the only ones kept to the user of the header: so is every route, mem0’s too', async () => {
    const headers = { ...operator, 'x-slowwave-user': 'ann' };
    const asked: readonly [string, object][] = [
      ['/v1/search', { user_id: 'bob', query: 'live' }],
      ['/mem0/v3/memories/search', { filters: { user_id: 'bob' }, query: 'live' }],
    ];
    for (const [path, body] of asked) {
      const answer = await call('POST', `${proxy.url}${path}`, { body, headers });
      expect([path, answer.status, answer.body.code]).toEqual([path, 403, 'key_bound']);
    }
  });

  it('may do what the scopes of the key are for, and nothing else', async () => {
    const all = await withKey({ tenant: 'scoped' });
    const memory_id = await remembered(all, 'ann', 'I live in Oslo');
    const [args = {}] = everything({ memory_id, user_id: 'ann' });
    for (const scope of ['ingest', 'search', 'manage'] as const) {
      expect((await use(all, 'get_memory', { memory_id })).data.memory).toMatchObject({ version: 1 });
      const host = await withKey({ tenant: 'scoped', scopes: [scope] });
      expect((await host.listTools()).tools.map(({ name }) => name).sort()).toEqual(Object.keys(SCOPES).sort());
      for (const [name, needed] of Object.entries(SCOPES)) {
        const { isError, text } = await tryTo(host, name, args[name] ?? {});
        const refused = isError && text.includes('a key with the scope');
        expect([scope, name, refused]).toEqual([scope, name, needed !== scope]);
      }
    }
  });

  it('of one tenant find nothing of another, and are limited and audited like every request', async () => {
    const ours = await withKey({ tenant: 'ours' });
    const memory_id = await remembered(ours, 'ann', 'I live in Oslo');
    const { secret, id } = await made({ tenant: 'theirs' });
    const theirs = await connected({ authorization: `Bearer ${secret}` });
    for (const name of ['get_memory', 'memory_history', 'delete_memory'])
      expect([name, await tryTo(theirs, name, { memory_id })]).toEqual([
        name,
        expect.objectContaining({ isError: true }),
      ]);
    expect((await use(theirs, 'get_memories', { user_id: 'ann' })).data.results).toEqual([]);
    const audited = async (): Promise<string[]> => {
      const headers = { authorization: `Bearer ${secret}` };
      const { body } = await call('GET', `${proxy.url}/v1/audit?by=${id}`, { headers });
      return body.results.map(({ action }: { action: string }) => action);
    };
    await expect.poll(audited, NOTICED).toContain('DELETE /v1/memories/{id}');
  });

  it('with headers for an agent and an app save and find what belongs to them', async () => {
    const key = { tenant: 'labelled' };
    const editor = await withKey(key, { 'x-slowwave-user': 'ann', 'x-slowwave-app': 'editor' });
    const mail = await withKey(key, { 'x-slowwave-user': 'ann', 'x-slowwave-app': 'mail' });
    await use(editor, 'add_memory', { text: 'I live in Oslo', wait_seconds: 45 });
    expect((await use(editor, 'get_memories')).data.results).toHaveLength(1);
    expect((await use(mail, 'get_memories')).data.results).toEqual([]);
    expect(await tryTo(mail, 'get_memories', { app_id: 'editor' })).toMatchObject({ isError: true });
    const contrary = { app_id: 'editor', scopes: ['search'] };
    expect(await refusalOf(contrary, { 'x-slowwave-app': 'mail' })).toMatch(/"editor".*x-slowwave-app/);
  });
});

const LISTING = { jsonrpc: '2.0', id: 1, method: 'tools/list' };

interface Named {
  readonly memory_id: string;
  readonly user_id: string;
}

/** Calls of every tool that would show or change something of this memory and user: with the user named, and without. */
const everything = ({ memory_id, user_id }: Named): Record<string, Record<string, unknown>>[] =>
  [{ user_id }, {}].map((whose) => ({
    add_memory: { ...whose, text: 'I live nowhere' },
    search_memories: { ...whose, query: 'live' },
    get_context: { ...whose, query: 'live' },
    get_memories: whose,
    get_memory: { memory_id },
    update_memory: { memory_id, text: 'Changed' },
    delete_memory: { memory_id },
    delete_all_memories: { ...whose, user_id, confirm: true },
    list_entities: {},
    memory_history: { memory_id },
    undo_last: { user_id },
    graph_neighbourhood: { ...whose, entity: 'Zan' },
    recall: { ...whose, query: 'Where does she live?' },
  }));

/** What each tool needs of a key. */
const SCOPES = {
  add_memory: 'ingest',
  search_memories: 'search',
  get_context: 'search',
  get_memories: 'search',
  get_memory: 'search',
  list_entities: 'search',
  memory_history: 'search',
  graph_neighbourhood: 'search',
  recall: 'search',
  update_memory: 'manage',
  delete_memory: 'manage',
  delete_all_memories: 'manage',
  undo_last: 'manage',
} as const;
