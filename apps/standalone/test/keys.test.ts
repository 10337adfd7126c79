import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Answer, call, said } from './client.ts';
import { attempts, CHANGING_NOTHING, NEEDED, SUBJECTS, sampled } from './routes-of-keys.ts';
import { fourProcesses, type Setup } from './setups.ts';

const STATIC = 'the-key-of-the-operator';
/** Whoever reads the audit log is told of, too. */
const OWN_ENTRY = 'GET /v1/audit';
/** What is known of a key is believed for at most 5 s; the rest is for a busy machine. */
const NOTICED = { timeout: 60_000, interval: 250 };

describe('keys, in separate processes', () => {
  let setup: Setup;
  beforeAll(async () => {
    setup = await fourProcesses({ SLOWWAVE_API_KEY: STATIC });
  });
  afterAll(() => setup.close());

  type App = 'ingest' | 'search' | 'console';
  type Ask = (of: App, route: string, body?: unknown) => Promise<Answer>;

  /** Asks as whoever has this secret: "GET /v1/keys" of an app. */
  const as =
    (secret: string): Ask =>
    (of, route, body) => {
      const [method = '', path = ''] = route.split(' ');
      return call(method, `${setup[of]}${path}`, { body, headers: { authorization: `Bearer ${secret}` } });
    };
  const operator = as(STATIC);

  async function make(given: object): Promise<{ id: string; secret: string }> {
    const { status, body } = await operator('console', 'POST /v1/keys', { name: 'k', scopes: ['admin'], ...given });
    expect(status).toBe(201);
    return body;
  }

  async function remembered(ask: Ask, userId: string, text: string) {
    const batch = await ask('ingest', 'POST /v1/batches?wait=60000', { ...said(userId, text), flush: true });
    expect(batch.body.state).toBe('consolidated');
    const { id, consolidation_id, events } = batch.body;
    const [{ id: event, memory_id: memory }] = events;
    return { batch: id, consolidation: consolidation_id, memory, event };
  }

  /** The routes of the product that a process describes, as the table names them. */
  async function described(app: App): Promise<string[]> {
    const { paths } = (await operator(app, 'GET /openapi.json')).body;
    const routes = Object.entries(paths).flatMap(([path, methods]) =>
      Object.keys(methods as object).map((method) => `${app} ${method.toUpperCase()} ${path}`),
    );
    return routes.filter((route) => route.includes(' /v1/'));
  }

  it('are described by a table of all routes', async () => {
    const routes = await Promise.all([described('ingest'), described('search'), described('console')]);
    const message = 'a route belongs in NEEDED of routes-of-keys.ts, with the scope that it needs';
    expect(routes.flat().sort(), message).toEqual(Object.keys(NEEDED).sort());
  });

  it.each(['ingest', 'search', 'manage', 'admin'] as const)('open what %s is for, route by route', async (scope) => {
    const ask = as((await make({ tenant: 'walk', scopes: [scope] })).secret);
    for (const [route, needed] of Object.entries(NEEDED)) {
      const { app, line, body } = sampled(route);
      const { status, body: told } = await ask(app, line, body);
      const opens = needed === 'any' || needed === scope || (scope === 'admin' && needed !== 'operator');
      expect([route, status === 403, told.code === 'scope_missing']).toEqual([route, !opens, !opens]);
      expect([route, status]).not.toEqual([route, 401]);
    }
    for (const page of ['/queues', '/metrics']) expect((await ask('console', `GET ${page}`)).status).toBe(403);
    expect((await call('GET', `${setup.console}/v1/keys`)).status).toBe(401);
  });

  it('open to a person what people may do with their own memories, and to a link nothing before it is opened', async () => {
    const ask = as((await make({ tenant: 'walk', scopes: ['subject'], user_id: 'ann' })).secret);
    const link = await ask('console', 'POST /v1/users/ann/links', {});
    expect(link.body.code, 'nobody makes links to their own page').toBe('scope_missing');
    const { path } = (await operator('console', 'POST /v1/users/ann/links', {})).body;
    const closed = as(path.replace('/me#', ''));
    for (const [route, needed] of Object.entries(NEEDED)) {
      const { app, line, body } = sampled(route);
      const opens = needed === 'any' || SUBJECTS.has(route);
      expect([route, (await ask(app, line, body)).body.code === 'scope_missing']).toEqual([route, !opens]);
      if (needed !== 'any')
        expect([route, (await closed(app, line, body)).body.code]).toEqual([route, 'scope_missing']);
    }
  });

  it('leave an entry in the audit log of every route that changes something', async () => {
    const { secret, id } = await make({ tenant: 'walked' });
    const ask = as(secret);
    const changing = Object.keys(NEEDED).filter(
      (route) => !route.includes(' GET ') && !CHANGING_NOTHING.some((line) => route.endsWith(` ${line}`)),
    );
    for (const route of changing) {
      const { app, line, body } = sampled(route);
      await ask(app, line, body);
    }
    const entries = async (): Promise<string[]> => {
      const { results } = (await ask('console', `GET /v1/audit?by=${id}&limit=200`)).body;
      return results.map(({ action }: { action: string }) => action).filter((action: string) => action !== OWN_ENTRY);
    };
    const actions = changing.map((route) => route.slice(route.indexOf(' ') + 1)).sort();
    const message = 'a POST that changes nothing belongs in CHANGING_NOTHING of routes-of-keys.ts';
    await expect.poll(async () => (await entries()).sort(), { ...NOTICED, message }).toEqual(actions);
  });

  it('of one tenant find nothing of another, by any id', async () => {
    const ours = as((await make({ tenant: 'ours' })).secret);
    const other = await make({ tenant: 'theirs' });
    const theirs = as(other.secret);
    const mine = await remembered(ours, 'ann', 'I live in Oslo');
    const undone = await remembered(ours, 'ann', 'I have a dog');
    const undo = (await ours('console', `POST /v1/consolidations/${undone.consolidation}/undo`, {})).body.undo.id;
    const again = { filter: { user_id: 'ann' }, shadow: true };
    const replay = await ours('console', 'POST /v1/replays', again);
    expect(replay.status, JSON.stringify(replay.body)).toBe(202);
    const erasure = (await ours('console', 'DELETE /v1/users/zoe')).body.erasure_id;
    const key = (await ours('console', 'GET /v1/keys')).body.results[0].id;
    const foreign: readonly [App, string, unknown?][] = [
      ['ingest', `GET /v1/batches/${mine.batch}`],
      ['ingest', `GET /v1/batches/${mine.batch}?wait=1000`],
      ['search', `GET /v1/memories/${mine.memory}`],
      ['search', `GET /v1/memories/${mine.memory}/history`],
      ['search', `GET /v1/memories/${mine.memory}/sources`],
      ['search', `GET /v1/messages?around=${mine.event}`],
      ['console', `PATCH /v1/memories/${mine.memory}`, { memory: 'I live in Rome' }],
      ['console', `POST /v1/memories/${mine.memory}/restore`, { version: 1 }],
      ['console', `POST /v1/memories/${mine.memory}/feedback`, { rating: 'very_negative' }],
      ['console', `DELETE /v1/memories/${mine.memory}`],
      ['console', `GET /v1/consolidations/${mine.consolidation}`],
      ['console', `POST /v1/consolidations/${mine.consolidation}/undo`, {}],
      ['console', `POST /v1/undos/${undo}/redo`, {}],
      ['console', `GET /v1/replays/${replay.body.id}`],
      ['console', `DELETE /v1/replays/${replay.body.id}`],
      ['console', `GET /v1/erasures/${erasure}`],
      ['console', 'GET /v1/users/ann/export'],
      ['console', `DELETE /v1/keys/${key}`],
      ['console', `POST /v1/keys/${key}/rotate`, {}],
    ];
    for (const [app, route, body] of foreign) {
      const answer = await theirs(app, route, body);
      expect([route, answer.status, answer.body.code]).toEqual([route, 404, 'not_found']);
    }
    await expectNothing(theirs);
    expect((await theirs('console', 'GET /v1/keys?tenant=ours')).status).toBe(403);
    await theirs('console', 'PUT /v1/settings', { instructions: 'nothing but dogs' });
    expect((await ours('console', 'GET /v1/settings')).body.instructions).toBeNull();
    await theirs('console', 'DELETE /v1/memories?user_id=ann');
    expect((await ours('search', `GET /v1/memories/${mine.memory}`)).body.memory).toContain('Oslo');
    expect((await ours('search', 'GET /v1/stats')).body.batches).toMatchObject({ accepted: 2, gap: 0 });
    expect((await operator('search', 'GET /v1/memories?user_id=ann')).body.results).toEqual([]);
  });

  /** All that lists or counts shows a tenant that has said nothing. */
  async function expectNothing(ask: Ask): Promise<void> {
    const lists: readonly [App, string][] = [
      ['ingest', '/v1/batches'],
      ['search', '/v1/memories?user_id=ann'],
      ['search', '/v1/users'],
      ...['consolidations', 'replays', 'reviews', 'undos'].map((name): [App, string] => ['console', `/v1/${name}`]),
    ];
    for (const [app, path] of lists) expect([path, (await ask(app, `GET ${path}`)).body.results]).toEqual([path, []]);
    expect((await ask('search', 'GET /v1/stats')).body).toMatchObject({ owners: 0, batches: { accepted: 0 } });
    const query = { user_id: 'ann', query: 'where does she live?', include: ['sources'] };
    expect((await ask('search', 'POST /v1/search', query)).body.results).toEqual([]);
    const rehearsal = await ask('console', 'POST /v1/replays', {
      filter: { user_id: 'ann' },
      shadow: true,
      dry_run: true,
    });
    expect(rehearsal.body).toMatchObject({ matched: 0 });
  }

  it('may use an idempotency key that another tenant has used', async () => {
    const body = { ...said('ann', 'I live in Oslo'), idempotency_key: 'k1' };
    const ids: string[] = [];
    for (const tenant of ['first', 'second']) {
      const answer = await as((await make({ tenant })).secret)('ingest', 'POST /v1/batches', body);
      expect(answer.status).toBe(202);
      ids.push(answer.body.batch_id);
    }
    expect(ids[0]).not.toBe(ids[1]);
  });

  it('that are revoked, expired or replaced are refused by every process', async () => {
    const revoked = await make({ tenant: 'ends' });
    const rotated = await make({ tenant: 'ends' });
    const codes = async (secret: string) => {
      const asked = [as(secret)('ingest', 'GET /v1/batches'), as(secret)('search', 'GET /v1/users')];
      return (await Promise.all([...asked, as(secret)('console', 'GET /v1/keys')])).map(({ status }) => status);
    };
    const expiringIn = async (ms: number): Promise<{ secret: string }> => {
      const made = await make({ tenant: 'expires', expires_at: new Date(Date.now() + ms).toISOString() });
      // A busy machine may ask for it too late.
      return (await codes(made.secret)).every((status) => status === 200) ? made : expiringIn(2 * ms);
    };
    for (const { secret } of [revoked, rotated]) expect(await codes(secret)).toEqual([200, 200, 200]);
    const expired = await expiringIn(3_000);
    expect((await operator('console', `DELETE /v1/keys/${revoked.id}?tenant=ends`)).status).toBe(200);
    const rotation = `POST /v1/keys/${rotated.id}/rotate`;
    const next = (await operator('console', rotation, { tenant: 'ends', grace_seconds: 3_600 })).body.secret;
    await expect.poll(() => codes(next), NOTICED).toEqual([200, 200, 200]);
    expect(await codes(rotated.secret)).toEqual([200, 200, 200]);
    const last = (await operator('console', rotation, { tenant: 'ends' })).body.secret;
    for (const secret of [revoked.secret, expired.secret, rotated.secret, next]) {
      await expect.poll(() => codes(secret), NOTICED).toEqual([401, 401, 401]);
    }
    await expect.poll(() => codes(last), NOTICED).toEqual([200, 200, 200]);
    expect((await operator('console', `POST /v1/keys/${revoked.id}/rotate`, { tenant: 'ends' })).status).toBe(409);
    const { results } = (await operator('console', 'GET /v1/keys?tenant=ends')).body;
    expect(results).toHaveLength(2);
    expect(JSON.stringify(results)).not.toMatch(/secret|hash|sw_/);
  });

  it('for one user reach nothing of others (mem0: any valid key reads any user)', async () => {
    const all = as((await make({ tenant: 'bound' })).secret);
    const scopes = ['ingest', 'search', 'manage'];
    const ann = as((await make({ tenant: 'bound', scopes, user_id: 'ann' })).secret);
    const bobs = await remembered(all, 'bob', 'I live in Rome');
    const own = await remembered(ann, 'ann', 'I live in Oslo');
    const query = { query: 'where do I live?' };
    expect((await ann('search', 'POST /v1/search', { ...query, user_id: 'ann' })).body.results).toHaveLength(1);
    expect((await ann('search', `GET /v1/memories/${own.memory}`)).status).toBe(200);
    const refused: readonly [App, string, unknown?][] = [
      ['ingest', 'POST /v1/batches', said('bob', 'I moved to Paris')],
      ['ingest', 'POST /v1/batches', { agent_id: 'bot', messages: said('ann', 'Hello').messages }],
      ['ingest', 'POST /v1/flush', { user_id: 'bob' }],
      ['ingest', 'GET /v1/batches'],
      ['ingest', 'GET /v1/batches?user_id=bob'],
      ['search', 'POST /v1/search', { ...query, user_id: 'bob' }],
      ['search', 'GET /v1/memories?user_id=bob'],
      ['search', 'GET /v1/users'],
      ['search', 'GET /v1/ids'],
      ['search', 'GET /v1/ids/memories?run_id=r1'],
      ['console', 'DELETE /v1/ids/memories?run_id=r1'],
      ['search', 'GET /v1/stats'],
      ['console', 'POST /v1/memories', { user_id: 'bob', memory: 'Bob lives in Paris' }],
      ['console', 'DELETE /v1/users/bob'],
      ['console', 'DELETE /v1/agents/ann'],
      ['console', 'DELETE /v1/runs/ann'],
      ['console', 'GET /v1/users/bob/export'],
      ['console', 'GET /v1/settings'],
      ['console', `GET /v1/consolidations/${bobs.consolidation}`],
    ];
    for (const [app, route, body] of refused) {
      const answer = await ann(app, route, body);
      expect([route, answer.status, answer.body.code]).toEqual([route, 403, 'key_bound']);
    }
    const hidden = [
      ...['', '/history', '/sources'].map((path) => `memories/${bobs.memory}${path}`),
      `messages?around=${bobs.event}`,
    ];
    for (const path of hidden) expect([path, (await ann('search', `GET /v1/${path}`)).status]).toEqual([path, 404]);
    for (const line of ['PATCH', 'DELETE'].map((method) => `${method} /v1/memories/${bobs.memory}`)) {
      const change = line.startsWith('PATCH') ? { memory: 'Bob lives in Paris' } : undefined;
      expect([line, (await ann('console', line, change)).status]).toEqual([line, 404]);
    }
    expect((await ann('ingest', `GET /v1/batches/${bobs.batch}`)).status).toBe(404);
    const refusal = await operator('console', 'POST /v1/keys', { name: 'k', scopes: ['admin'], user_id: 'ann' });
    expect(refusal).toMatchObject({ status: 400, body: { errors: [{ path: 'scopes' }] } });
  });

  it('that a link was exchanged for show and change nothing of anybody else, by any route and in any process', async () => {
    const all = as((await make({ tenant: 'own-pages' })).secret);
    const bobs = await remembered(all, 'bob', 'I live in Zanzibar');
    await remembered(all, 'ann', 'I live in Oslo');
    const relation = { source: { self: true }, relationship: 'lives_in', destination: { name: 'Zanzibar' } };
    const { id: statement, destination } = (await all('console', 'POST /v1/relations', { user_id: 'bob', ...relation }))
      .body;
    const query = 'who lives in Zanzibar?';
    const { receipt_id: receipt } = (await all('search', 'POST /v1/search', { user_id: 'bob', query })).body;
    const { path } = (await all('console', 'POST /v1/users/ann/links', {})).body;
    const opened = await as(path.replace('/me#', ''))('console', 'POST /v1/session');
    const ann = as(opened.body.token);
    for (const [of, route] of [
      ['search', 'GET /v1/memories?user_id=ann'],
      ['console', 'GET /v1/users/ann/export'],
    ] as const)
      expect(JSON.stringify((await ann(of, route)).body)).toContain('Oslo');
    const ids = ['bob', bobs.memory, bobs.batch, bobs.consolidation, statement, destination.id, receipt];
    const more = { query, memory: 'Changed', version: 1 };
    for (const { app, line, body } of attempts({ ids, users: ['ann', 'bob'], more })) {
      const answer = await ann(app, line, body);
      expect([line, JSON.stringify(answer.body).includes('Zanzibar'), answer.status < 500]).toEqual([
        line,
        false,
        true,
      ]);
    }
    expect((await all('search', `GET /v1/memories/${bobs.memory}`)).body.memory).toContain('Zanzibar');
    expect((await all('search', 'GET /v1/memories?user_id=ann')).body.results).toHaveLength(1);
    const { results } = (await all('search', 'GET /v1/memories?user_id=bob')).body;
    expect(JSON.stringify(results)).not.toContain('Changed');
    expect((await all('console', 'GET /v1/users/bob/pause')).body.paused_at).toBeNull();
  });

  it('for one app see the newest version of a memory that was said in their app', async () => {
    const all = as((await make({ tenant: 'shared' })).secret);
    for (const [app_id, text] of [
      ['shop', 'I live in Oslo'],
      ['health', 'Actually I live in Bergen now'],
    ]) {
      const body = { ...said('ann', text ?? ''), app_id, flush: true };
      expect((await all('ingest', 'POST /v1/batches?wait=60000', body)).body.state).toBe('consolidated');
    }
    const question = { user_id: 'ann', query: 'where does she live?' };
    const seen = async (ask: Ask, app_id: string) => {
      const { results } = (await ask('search', 'POST /v1/search', { ...question, app_id })).body;
      return results.map(({ memory }: { memory: string }) => /Oslo|Bergen/.exec(memory)?.[0]);
    };
    for (const [app_id, city] of [
      ['shop', 'Oslo'],
      ['health', 'Bergen'],
    ] as const) {
      const own = as((await make({ tenant: 'shared', scopes: ['search'], app_id })).secret);
      expect([app_id, await seen(own, app_id)]).toEqual([app_id, [city]]);
      expect([app_id, await seen(all, app_id)]).toEqual([app_id, ['Bergen']]);
    }
  });

  it('for one app neither read nor change what other apps were told', async () => {
    const all = as((await make({ tenant: 'apps' })).secret);
    const shop = as((await make({ tenant: 'apps', scopes: ['ingest', 'search', 'manage'], app_id: 'shop' })).secret);
    const batch = (app_id: string, text: string) => ({ ...said('ann', text), app_id, flush: true });
    const post = async (ask: Ask, body: object) => (await ask('ingest', 'POST /v1/batches?wait=60000', body)).body;
    const eve = await post(all, batch('health', "My sister's name is Eve"));
    expect(eve.events).toMatchObject([{ event: 'ADD', memory: expect.stringContaining('Eve') }]);
    const health = eve.events[0].memory_id;
    const zoe = batch('shop', "My sister's name is Zoe");
    const preview = { user_id: 'ann', app_id: 'shop', messages: zoe.messages };
    const previewed = (await shop('console', 'POST /v1/consolidations/preview', preview)).body;
    expect(previewed).toMatchObject({ candidates: [], operations: [{ event: 'ADD', before: null }] });
    expect(await post(shop, zoe)).toMatchObject({ state: 'consolidated', events: [{ event: 'ADD', previous: null }] });
    expect((await all('search', `GET /v1/memories/${health}`)).body.memory).toContain('Eve');
    const mixed = await post(all, batch('shop', "My sister's name is Mia"));
    expect(JSON.stringify(mixed.events)).toContain('Eve');
    const cut = (await shop('ingest', `GET /v1/batches/${mixed.id}`)).body;
    expect(cut).toMatchObject({ id: mixed.id, state: 'consolidated' });
    expect(JSON.stringify(cut)).not.toMatch(/Eve/);

    const ids = { user_id: 'ann', app_id: 'shop' };
    const question = { ...ids, query: 'the name of the sister' };
    const filters = { AND: [{ user_id: 'ann' }, { app_id: 'shop' }] };
    const refused: readonly [App, string, unknown][] = [
      ['search', 'POST /v1/search', { ...question, include: ['relations'] }],
      ['search', 'POST /v1/context', { ...question, sections: ['memories', 'relations'] }],
      ['ingest', 'POST /v1/batches', { ...zoe, graph: true }],
      ['console', 'POST /mem0/v3/memories/search', { query: 'sister', filters, enable_graph: true }],
      ['console', 'POST /mem0/v3/memories/add', { ...ids, messages: 'Hello', enable_graph: true }],
      ['console', 'POST /mem0/v3/memories/search', { query: 'sister', filters: { user_id: 'ann' } }],
      ['console', 'PUT /mem0/v1/batch', { memories: [{ memory_id: health, text: 'Changed' }] }],
    ];
    for (const [app, route, body] of refused) {
      const answer = await shop(app, route, body);
      expect([route, answer.status, answer.body.code]).toEqual([route, 403, 'key_bound']);
    }
    for (const route of Object.keys(NEEDED)) {
      const { app, line, body } = sampled(route);
      const here = line.replace('none', health) + (line.startsWith('GET') ? '?user_id=ann&app_id=shop' : '');
      const answer = await shop(app, here, typeof body === 'object' ? { ...body, ...ids } : body);
      expect([here, JSON.stringify(answer.body).includes('Eve')]).toEqual([here, false]);
    }
    expect((await all('search', `GET /v1/memories/${health}/history`)).body.results[0].memory).toContain('Eve');
  });
});
