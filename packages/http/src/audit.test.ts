import { afterEach, expect, test } from 'vitest';
import { type Bounds, type CheckedKey, type KeyCheck, needScope, type RouteScope } from './access.ts';
import { type AuditEntry, type AuditSink, concerns, onceAMinute } from './audit.ts';
import { allowPages } from './sessions.ts';
import type { App, Routes } from './shell.ts';
import { testShell } from './testing.ts';

const STATIC = 'a-long-secret';
const FORM = { 'content-type': 'application/x-www-form-urlencoded', 'sec-fetch-site': 'same-origin' };
const MEMORY = 'mem_01m7yehrk1';

const CHECKED: Readonly<Record<string, CheckedKey>> = {
  sw_chat: {
    kind: 'taken',
    principal: { keyId: 'key_chat', tenant: 'acme', scopes: ['ingest', 'search'], userId: 'ann', appId: null },
  },
  sw_admin: {
    kind: 'taken',
    principal: { keyId: 'key_admin', tenant: 'acme', scopes: ['admin'], userId: null, appId: null },
  },
  sw_revoked: { kind: 'refused', reason: 'revoked', key: { id: 'key_old', tenant: 'acme' } },
};
const keys: KeyCheck = {
  any: async () => true,
  check: async (text) => CHECKED[text] ?? { kind: 'refused', reason: 'unknown' },
};

const closing: App[] = [];
afterEach(async () => {
  await Promise.all(closing.splice(0).map((app) => app.close()));
});

async function start({ what = 'changes', keyRate = null as number | null, keyed = true } = {}) {
  const entries: AuditEntry[] = [];
  const audit: AuditSink = { what: what as 'changes' | 'all', record: (entry) => entries.push(entry) };
  const auth = keyed ? { apiKey: STATIC, keys } : { apiKey: null, keys: null };
  const { app } = await testShell({ auth, audit, keyRate });
  closing.push(app);
  const routes = (scope: RouteScope, add: (of: App) => void) => {
    const plugin: Routes = async (of) => {
      needScope(of, scope);
      add(of);
    };
    return app.register(plugin);
  };
  const body: Bounds = { by: 'body', apps: true };
  await routes('ingest', (of) => {
    of.post('/v1/batches', { config: { bounds: body } }, async (_, reply) => reply.code(202).send({}));
    of.get('/v1/batches', async () => ({}));
  });
  await routes('search', (of) => of.post('/v1/search', { config: { bounds: body } }, async () => ({})));
  await routes('manage', (of) => {
    of.delete('/v1/memories/:id', async () => ({}));
    of.get('/v1/memories/:id', async () => ({}));
  });
  await routes('admin', (of) => {
    of.get('/v1/keys', async () => ({}));
    of.post('/v1/keys', async (request) => {
      concerns(request, { kind: 'key', id: 'key_made' });
      return {};
    });
  });
  await routes('any', (of) => of.post('/mem0/v1/memories', async () => ({})));
  await routes('operator', (of) => {
    allowPages(of);
    of.get('/queues', async () => 'a page');
    of.put('/queues/retry', async () => 'done');
  });
  const ask = (key: string | null, line: string, payload?: object) => {
    const [method = 'GET', url = ''] = line.split(' ');
    const headers = key === null ? {} : { authorization: `Bearer ${key}` };
    return app.inject({ method: method as 'GET', url, headers, ...(payload !== undefined && { payload }) });
  };
  const actions = () => entries.map(({ action, status }) => `${action} ${status}`);
  return { app, ask, entries, actions };
}

test('a change is told with who, what, about whom and the outcome, and without texts', async () => {
  const { ask, entries } = await start();
  const body = { user_id: 'ann', messages: [{ role: 'user', content: 'my cat is called Tom' }] };
  const { headers } = await ask('sw_chat', 'POST /v1/batches', body);
  expect(entries).toEqual([
    {
      ...{ tenant: 'acme', by: 'key_chat', session: false, action: 'POST /v1/batches', status: 202, code: null },
      ...{ subject: { kind: 'user', id: 'ann' }, requestId: headers['x-request-id'], tookMs: expect.any(Number) },
    },
  ]);
});

test('what changes nothing is left out, but for what admins read', async () => {
  const { ask, actions } = await start();
  const reads = ['GET /v1/batches', `GET /v1/memories/${MEMORY}`, 'GET /v1/keys', 'GET /metrics', 'GET /queues'];
  for (const line of [...reads, 'GET /healthz', 'GET /nowhere']) await ask(STATIC, line);
  await ask(STATIC, 'POST /v1/search', { user_id: 'ann' });
  await ask(STATIC, 'POST /mem0/v1/memories');
  expect(actions()).toEqual(['GET /v1/keys 200']);
  const everything = await start({ what: 'all' });
  await everything.ask(STATIC, `GET /v1/memories/${MEMORY}`);
  await everything.ask(STATIC, 'POST /v1/search', { user_id: 'ann' });
  await everything.ask(STATIC, 'GET /metrics');
  expect(everything.actions()).toEqual(['GET /v1/memories/{id} 200', 'POST /v1/search 200']);
});

test('the subject is what the route says, else what its path names; a text that is no id of ours is not kept', async () => {
  const { ask, entries } = await start();
  await ask('sw_admin', 'POST /v1/keys');
  await ask('sw_admin', `DELETE /v1/memories/${MEMORY}`);
  await ask('sw_admin', 'DELETE /v1/memories/my%20cat');
  await ask('sw_admin', 'POST /v1/batches', { user_id: 7 });
  const subjects = [{ kind: 'key', id: 'key_made' }, { kind: 'memory', id: MEMORY }, null, null];
  expect(entries.map(({ subject }) => subject)).toEqual(subjects);
});

test('who is refused is told of once a minute, a key that has ended by its id, and no secret ever', async () => {
  const { ask, entries } = await start();
  for (let i = 0; i < 3; i += 1) {
    for (const key of ['sw_revoked', 'sw_guessed', null]) await ask(key, 'GET /v1/keys');
    await ask('sw_guessed', `DELETE /v1/memories/${MEMORY}${i}`);
    await ask('sw_chat', `DELETE /v1/memories/${MEMORY}`);
    await ask('sw_chat', 'POST /v1/batches', { user_id: 'bob' });
    await ask('sw_chat', 'POST /v1/search', { user_id: 'bob' });
  }
  expect(entries.map(({ tenant, by, action, code, subject }) => [tenant, by, action, code, subject?.id])).toEqual([
    ['acme', 'key_old', 'GET /v1/keys', 'unauthorized', undefined],
    ['default', 'nobody', 'GET /v1/keys', 'unauthorized', undefined],
    ['default', 'nobody', 'DELETE /v1/memories/{id}', 'unauthorized', undefined],
    ['acme', 'key_chat', 'DELETE /v1/memories/{id}', 'scope_missing', MEMORY],
    ['acme', 'key_chat', 'POST /v1/batches', 'key_bound', 'bob'],
    ['acme', 'key_chat', 'POST /v1/search', 'key_bound', 'bob'],
  ]);
  expect(JSON.stringify(entries)).not.toMatch(/sw_|a-long-secret/);
});

test('a key that sends too much is told of once, whomever it writes about', async () => {
  const { ask, actions } = await start({ keyRate: 1 });
  for (let i = 0; i < 6; i += 1) await ask('sw_admin', 'POST /v1/batches', { user_id: `user-${i}` });
  expect(actions()).toEqual(['POST /v1/batches 202', 'POST /v1/batches 202', 'POST /v1/batches 429']);
});

test('sign-ins are told of, also those that fail, and what a session does', async () => {
  const { app, entries } = await start();
  const login = (key: string) => {
    const payload = new URLSearchParams({ key, next: '/queues' }).toString();
    return app.inject({ method: 'POST', url: '/login', headers: FORM, payload });
  };
  await login('sw_revoked');
  const cookie = String((await login(STATIC)).headers['set-cookie']).split(';')[0] ?? '';
  const own = { cookie, 'sec-fetch-site': 'same-origin' };
  await app.inject({ method: 'PUT', url: '/queues/retry', headers: own });
  expect(entries.map(({ by, action, status, code, session }) => [by, action, status, code, session])).toEqual([
    ['key_old', 'POST /login', 401, 'unauthorized', false],
    ['operator', 'POST /login', 303, null, true],
    ['operator', 'PUT /queues/retry', 200, null, true],
  ]);
  expect(JSON.stringify(entries)).not.toContain(STATIC);
});

test('without keys it is whoever is on this machine', async () => {
  const { ask, entries } = await start({ keyed: false });
  await ask(null, 'POST /v1/batches', { agent_id: 'bot', run_id: 'r' });
  expect(entries).toMatchObject([{ by: 'loopback', tenant: 'default', subject: { kind: 'agent', id: 'bot' } }]);
});

test('the same is new again after a minute', () => {
  let at = 0;
  const isNew = onceAMinute(() => at);
  expect([isNew('a'), isNew('a'), isNew('b')]).toEqual([true, false, true]);
  at = 60_000;
  expect(isNew('a')).toBe(true);
});
