import type { KeyScope } from '@slowwave/contracts';
import { afterEach, expect, test } from 'vitest';
import { z } from 'zod';
import { type Bounds, mayKnow, needScope, type Principal, type RouteScope, requireJustCome } from './access.ts';
import type { App, Routes } from './shell.ts';
import { testShell } from './testing.ts';

const closing: App[] = [];
afterEach(async () => {
  await Promise.all(closing.splice(0).map((app) => app.close()));
});

/** A shell that takes every key, as this principal. */
async function start(given: Partial<Principal>, routes: Routes): Promise<App> {
  const principal = { keyId: 'key_1', tenant: 'acme', scopes: [], userId: null, appId: null, ...given };
  const keys = { any: async () => true, check: async () => ({ kind: 'taken' as const, principal }) };
  const { app } = await testShell({ auth: { apiKey: null, keys } });
  closing.push(app);
  await app.register(routes);
  return app;
}

const headers = { authorization: 'Bearer sw_x' };
const ask = (app: App, url: string, method: 'GET' | 'HEAD' = 'GET') => app.inject({ method, url, headers });

const needing =
  (scope: RouteScope): Routes =>
  async (app) => {
    needScope(app, scope);
    app.get(`/v1/${scope}`, async () => ({}));
  };

const SCOPES: readonly KeyScope[] = ['ingest', 'search', 'manage', 'admin'];

test.each(SCOPES)('a key with the scope %s opens the routes of that scope and no others', async (scope) => {
  const app = await start({ scopes: [scope] }, async (inner) => {
    for (const needed of SCOPES) await inner.register(needing(needed));
  });
  for (const needed of SCOPES) {
    const opens = scope === needed || scope === 'admin';
    for (const method of ['GET', 'HEAD'] as const) {
      expect([method, needed, (await ask(app, `/v1/${needed}`, method)).statusCode]).toEqual([
        method,
        needed,
        opens ? 200 : 403,
      ]);
    }
  }
});

test('the scope subject opens what is marked for it, of one user and to nobody who is not bound to one', async () => {
  const routes: Routes = async (app) => {
    needScope(app, 'manage');
    const bounds: Bounds = { by: 'user', apps: false };
    app.get('/v1/users/:id/own', { config: { subject: true, bounds } }, async () => ({}));
    app.get('/v1/users/:id/other', { config: { bounds } }, async () => ({}));
  };
  const codes = async (given: Partial<Principal>) => {
    const app = await start(given, routes);
    const paths = ['ann/own', 'bob/own', 'ann/other'];
    return Promise.all(paths.map(async (path) => (await ask(app, `/v1/users/${path}`)).json().code ?? 'ok'));
  };
  expect(await codes({ scopes: ['subject'], userId: 'ann' })).toEqual(['ok', 'key_bound', 'scope_missing']);
  expect(await codes({ scopes: ['manage'], userId: 'ann' })).toEqual(['ok', 'key_bound', 'ok']);
  expect(await codes({ scopes: ['subject'] })).toEqual(['scope_missing', 'scope_missing', 'scope_missing']);
  expect(await codes({ scopes: [], userId: 'ann' })).toEqual(['scope_missing', 'scope_missing', 'scope_missing']);
});

test('what cannot be undone is for whoever has just come; a key that is sent shows itself each time', async () => {
  const now = 1_000_000_000;
  const routes: Routes = async (app) => {
    needScope(app, 'any');
    app.get('/v1/final', async (request) => {
      requireJustCome(request, now);
      return {};
    });
  };
  const code = async (given: Partial<Principal>) =>
    (await ask(await start(given, routes), '/v1/final')).json().code ?? 'ok';
  const minutesAgo = (minutes: number) => now - minutes * 60_000;
  for (const by of ['link', 'session'] as const) {
    expect([by, await code({ userId: 'ann', came: { by, at: minutesAgo(14) } })]).toEqual([by, 'ok']);
    expect([by, await code({ userId: 'ann', came: { by, at: minutesAgo(15) } })]).toEqual([by, 'sign_in_again']);
    expect([by, await code({ userId: 'ann', came: { by, at: null } })]).toEqual([by, 'sign_in_again']);
  }
  expect(await code({ userId: 'ann' })).toBe('ok');
  expect(await code({ came: { by: 'session', at: minutesAgo(60) } })).toBe('ok');
});

test('what concerns the whole installation, or says nothing of scopes, is for admins of the tenant default', async () => {
  const routes: Routes = async (app) => {
    await app.register(needing('operator'));
    app.get('/v1/forgotten', async () => ({}));
  };
  const statuses = async (given: Partial<Principal>): Promise<number[]> => {
    const app = await start(given, routes);
    const answers = ['/v1/operator', '/v1/forgotten', '/metrics'].map((url) => ask(app, url));
    return (await Promise.all(answers)).map(({ statusCode }) => statusCode);
  };
  expect(await statuses({ scopes: ['admin'] })).toEqual([403, 403, 403]);
  expect(await statuses({ tenant: 'default', scopes: ['ingest', 'search', 'manage'] })).toEqual([403, 403, 403]);
  expect(await statuses({ tenant: 'default', scopes: ['admin'] })).toEqual([200, 200, 200]);
});

test('every key may read the description, and is told which route is unknown', async () => {
  const app = await start({ scopes: ['ingest'], userId: 'ann' }, async () => {});
  expect((await ask(app, '/openapi.json')).statusCode).toBe(200);
  expect((await ask(app, '/docs/')).statusCode).toBe(200);
  expect((await ask(app, '/v1/unknown')).json()).toMatchObject({ status: 404, code: 'route_not_found' });
});

test('the description says which scope a route needs', async () => {
  const app = await start({ scopes: ['ingest'] }, needing('ingest'));
  const { paths } = (await ask(app, '/openapi.json')).json();
  expect(paths['/v1/ingest'].get.security).toEqual([{ key: ['ingest'] }]);
});

const Ids = z.object({ user_id: z.string().optional(), app_id: z.string().optional() });

const bounded =
  (apps: boolean): Routes =>
  async (app) => {
    needScope(app, 'search');
    const by = (how: Bounds['by']): { bounds: Bounds } => ({ bounds: { by: how, apps } });
    app.post('/v1/body', { schema: { body: Ids }, config: by('body') }, async () => ({}));
    app.get('/v1/query', { schema: { querystring: Ids }, config: by('query') }, async () => ({}));
    app.get('/v1/users/:id', { config: by('user') }, async () => ({}));
    app.get('/v1/found/:id', { config: by('found') }, async (request) => {
      const { id } = request.params as { id: string };
      return { known: mayKnow(request, { userId: id, appId: null }) };
    });
    app.get('/v1/silent', async () => ({}));
  };

test('a key for one user is kept to that user, and out of routes that say nothing of users', async () => {
  const app = await start({ scopes: ['search'], userId: 'ann' }, bounded(false));
  const statusOf = async (url: string) => (await ask(app, url)).statusCode;
  const postedAs = async (payload: object) =>
    (await app.inject({ method: 'POST', url: '/v1/body', headers, payload })).statusCode;
  expect(await postedAs({ user_id: 'ann' })).toBe(200);
  expect(await postedAs({ user_id: 'bob' })).toBe(403);
  expect(await postedAs({})).toBe(403);
  expect(await statusOf('/v1/query?user_id=ann')).toBe(200);
  expect(await statusOf('/v1/query?user_id=bob')).toBe(403);
  expect(await statusOf('/v1/query')).toBe(403);
  expect(await statusOf('/v1/users/ann')).toBe(200);
  expect(await statusOf('/v1/users/bob')).toBe(403);
  expect(await statusOf('/v1/silent')).toBe(403);
  expect((await ask(app, '/v1/found/ann')).json()).toEqual({ known: true });
  expect((await ask(app, '/v1/found/bob')).json()).toEqual({ known: false });
  expect((await ask(app, '/v1/query')).json()).toMatchObject({
    code: 'key_bound',
    detail: expect.stringContaining('"ann"'),
  });
});

test('a request that names its user in a header is kept to that user, whatever its key may do', async () => {
  const free = await start({ scopes: ['search', 'subject'] }, bounded(false));
  const codeOf = async (app: App, url: string, user: string) => {
    const answer = await app.inject({ url, headers: { ...headers, 'x-slowwave-user': user } });
    return answer.json().code ?? 'ok';
  };
  expect(await codeOf(free, '/v1/query?user_id=ann', 'ann')).toBe('ok');
  expect(await codeOf(free, '/v1/query?user_id=bob', 'ann')).toBe('key_bound');
  expect(await codeOf(free, '/v1/silent', 'ann')).toBe('key_bound');
  expect(await codeOf(free, `/v1/query?user_id=${encodeURIComponent('Анна')}`, encodeURIComponent('Анна'))).toBe('ok');
  for (const broken of ['%', '', '%00']) {
    expect([broken, await codeOf(free, '/v1/query', broken)]).toEqual([broken, 'invalid_request']);
  }
  const bound = await start({ scopes: ['search'], userId: 'ann' }, bounded(false));
  expect(await codeOf(bound, '/v1/query?user_id=ann', 'ann')).toBe('ok');
  expect(await codeOf(bound, '/v1/query?user_id=bob', 'bob')).toBe('key_bound');
});

test('naming a user in a header opens nothing that the key does not open', async () => {
  const routes: Routes = async (app) => {
    needScope(app, 'manage');
    const bounds: Bounds = { by: 'user', apps: false };
    app.get('/v1/users/:id/own', { config: { subject: true, bounds } }, async () => ({}));
  };
  const app = await start({ scopes: ['subject'] }, routes);
  const named = { ...headers, 'x-slowwave-user': 'ann' };
  expect((await app.inject({ url: '/v1/users/ann/own', headers: named })).json()).toMatchObject({
    code: 'scope_missing',
  });
});

test('a key for one app is kept to that app where a route can be', async () => {
  const fitting = await start({ scopes: ['search'], appId: 'diary' }, bounded(true));
  expect((await ask(fitting, '/v1/query?app_id=diary&user_id=bob')).statusCode).toBe(200);
  expect((await ask(fitting, '/v1/query?user_id=bob')).statusCode).toBe(403);
  expect((await ask(fitting, '/v1/query?app_id=tasks&user_id=bob')).statusCode).toBe(403);
  const others = await start({ scopes: ['search'], appId: 'diary' }, bounded(false));
  expect((await ask(others, '/v1/query?app_id=diary')).statusCode).toBe(403);
  expect((await ask(others, '/v1/found/ann')).statusCode).toBe(403);
});

test('a key for one user in one app needs both to be named, and nobody else', async () => {
  const app = await start({ scopes: ['search'], userId: 'ann', appId: 'diary' }, bounded(true));
  const postedAs = async (payload: object) => {
    const answer = await app.inject({ method: 'POST', url: '/v1/body', headers, payload });
    return [answer.statusCode, answer.json().code];
  };
  const refused = [403, 'key_bound'];
  expect(await postedAs({ user_id: 'ann', app_id: 'diary' })).toEqual([200, undefined]);
  expect(await postedAs({ user_id: 'ann', app_id: 'tasks' })).toEqual(refused);
  expect(await postedAs({ user_id: 'bob', app_id: 'diary' })).toEqual(refused);
  expect(await postedAs({ user_id: 'ann' })).toEqual(refused);
  expect(await postedAs({ app_id: 'diary' })).toEqual(refused);
});
