import { afterEach, expect, test } from 'vitest';
import { type KeyCheck, needScope } from './access.ts';
import { allowPages, ownSecret, sealer, sessions } from './sessions.ts';
import type { App, Routes } from './shell.ts';
import { testShell } from './testing.ts';

const KEY = 'a-long-secret';
const HTML = { accept: 'text/html,*/*;q=0.8' };
const OWN = { 'sec-fetch-site': 'same-origin' };
const FORM = { 'content-type': 'application/x-www-form-urlencoded' };
const closing: App[] = [];

afterEach(async () => {
  await Promise.all(closing.splice(0).map((app) => app.close()));
});

async function start(keys: KeyCheck | null = null) {
  const { app } = await testShell({ auth: { apiKey: KEY, keys } });
  closing.push(app);
  const pages: Routes = async (scope) => {
    allowPages(scope);
    needScope(scope, 'operator');
    scope.get('/page', async () => 'a page');
    scope.put('/page/act', async () => ({ acted: true }));
  };
  await app.register(pages);
  app.get('/v1/notes', async () => ({ notes: [] }));
  const login = (key: string, headers: Record<string, string> = OWN, next = '/page') => {
    const payload = new URLSearchParams({ key, next }).toString();
    return app.inject({ method: 'POST', url: '/login', headers: { ...FORM, ...headers }, payload });
  };
  const cookie = async (key = KEY) => String((await login(key)).headers['set-cookie']).split(';')[0] ?? '';
  return { app, login, cookie };
}

test('who looks at a page without a key is sent to the login, and back to the page after it', async () => {
  const { app, login } = await start();
  const sent = await app.inject({ url: '/page?x=1', headers: HTML });
  expect([sent.statusCode, sent.headers.location]).toEqual([303, '/login?next=%2Fpage%3Fx%3D1']);
  const form = await app.inject({ url: '/login?next=%2Fpage', headers: HTML });
  expect(form.body).toContain('<form method="post" action="/login">');
  expect(form.body).not.toMatch(/(src|href)=(?!"data:,")/);
  expect(form.headers['content-security-policy']).toContain("default-src 'self'");
  const done = await login(KEY);
  expect([done.statusCode, done.headers.location]).toEqual([303, '/page']);
  const cookie = String(done.headers['set-cookie']);
  expect(cookie).toMatch(/^slowwave_session=[\w-]+; Path=\/; Max-Age=43200; HttpOnly; SameSite=Strict$/);
  expect(cookie).not.toContain(KEY);
  const page = await app.inject({ url: '/page', headers: { ...HTML, cookie: cookie.split(';')[0] ?? '' } });
  expect(page.body).toBe('a page');
});

test('a link is nothing to sign in with: what it opens is never a cookie', async () => {
  const subject = { keyId: 'lnk_1', tenant: 'acme', scopes: [], userId: 'ann', appId: null };
  const principal = { ...subject, came: { by: 'link', at: null } } as const;
  const { login } = await start({ any: async () => true, check: async () => ({ kind: 'taken', principal }) });
  const answer = await login('sw_lnk_1_secret');
  expect(answer.statusCode).toBe(401);
  expect(answer.body).toContain('this is a link and not a key');
  expect(answer.headers['set-cookie']).toBeUndefined();
});

test('behind https the cookie never travels without', async () => {
  const { login } = await start();
  const answer = await login(KEY, { ...OWN, 'x-forwarded-proto': 'https' });
  expect(String(answer.headers['set-cookie'])).toContain('; Secure');
});

test('a wrong key is refused on the page, and what was typed is not repeated', async () => {
  const { login } = await start();
  const answer = await login('<b>wrong</b>');
  expect(answer.statusCode).toBe(401);
  expect(answer.headers['set-cookie']).toBeUndefined();
  expect(answer.body).toContain('role="alert"');
  expect(answer.body).not.toContain('wrong</b>');
});

test.each([['https://evil.example/'], ['//evil.example'], ['/\\evil.example'], ['javascript:alert(1)'], ['/a b']])(
  'after the login nobody is sent to %s',
  async (next) => {
    const { login } = await start();
    expect((await login(KEY, OWN, next)).headers.location).toBe('/');
  },
);

test('pages of other sites can neither sign somebody in nor act with a session', async () => {
  const { app, login, cookie } = await start();
  expect((await login(KEY, { 'sec-fetch-site': 'cross-site' })).statusCode).toBe(403);
  expect((await login(KEY, { origin: 'https://evil.example' })).statusCode).toBe(403);
  expect((await login(KEY, {})).statusCode).toBe(403);
  const headers = { cookie: await cookie() };
  const act = (more: Record<string, string>) =>
    app.inject({ method: 'PUT', url: '/page/act', headers: { ...headers, ...more } });
  expect((await act({ 'sec-fetch-site': 'cross-site' })).statusCode).toBe(401);
  expect((await act({ 'sec-fetch-site': 'same-site' })).statusCode).toBe(401);
  expect((await act({})).statusCode).toBe(401);
  expect((await act(OWN)).json()).toEqual({ acted: true });
  expect((await act({ origin: 'http://localhost:7070', host: 'localhost:7070' })).statusCode).toBe(200);
});

const SCRIPT = { 'x-slowwave-console': '1' };

test.each<[string, number, Record<string, string>]>([
  ['a script of our pages', 200, { ...OWN, ...SCRIPT }],
  ['one in a browser that says only the origin', 200, { origin: 'http://here:7070', host: 'here:7070', ...SCRIPT }],
  [
    'one in a browser that says only the referrer',
    200,
    { referer: 'http://here:7070/users', host: 'here:7070', ...SCRIPT },
  ],
  ['a link or a form', 401, OWN],
  ['a script of another site', 401, { 'sec-fetch-site': 'cross-site', ...SCRIPT }],
  ['one of a sister site', 401, { 'sec-fetch-site': 'same-site', ...SCRIPT }],
  ['one of another site, whose browser says only the referrer', 401, { referer: 'https://evil.example/', ...SCRIPT }],
  ['a program that has stolen only the cookie', 401, SCRIPT],
])('a session opens the API to scripts of our pages alone: %s gets %i', async (_, status, headers) => {
  const { app, cookie } = await start();
  const answer = await app.inject({ url: '/v1/notes', headers: { cookie: await cookie(), ...headers } });
  expect(answer.statusCode).toBe(status);
});

test('a session counts at every process that shares the secret of the ledger', async () => {
  const taken = { keyId: 'key_1', tenant: 'default', scopes: ['admin' as const], userId: null, appId: null };
  const processOf = async (secret: string) => {
    const keys: KeyCheck = {
      any: async () => true,
      check: async () => ({ kind: 'taken', principal: taken }),
      seal: async () => secret,
    };
    const { app } = await testShell({ auth: { apiKey: null, keys } });
    closing.push(app);
    app.get('/v1/notes', async () => ({ notes: [] }));
    return app;
  };
  const [first, second, stranger] = [await processOf('shared'), await processOf('shared'), await processOf('other')];
  const login = { method: 'POST' as const, url: '/login', headers: { ...FORM, ...OWN }, payload: 'key=sw_given' };
  const cookie = String((await first.inject(login)).headers['set-cookie']).split(';')[0] ?? '';
  const read = async (app: App) =>
    (await app.inject({ url: '/v1/notes', headers: { cookie, ...OWN, ...SCRIPT } })).statusCode;
  expect([await read(first), await read(second), await read(stranger)]).toEqual([200, 200, 401]);
});

test('a session may no more than its key, and ends with it', async () => {
  let revoked = false;
  const taken = { keyId: 'key_1', tenant: 'acme', scopes: ['search' as const], userId: null, appId: null };
  const { app, cookie } = await start({
    any: async () => true,
    check: async () => (revoked ? { kind: 'refused', reason: 'revoked' } : { kind: 'taken', principal: taken }),
  });
  const headers = { ...HTML, cookie: await cookie('sw_given') };
  expect((await app.inject({ url: '/page', headers })).statusCode).toBe(403);
  expect((await app.inject({ url: '/docs/', headers })).statusCode).toBe(200);
  revoked = true;
  expect((await app.inject({ url: '/docs/', headers })).statusCode).toBe(303);
});

test('who has signed in is told so, and can sign out', async () => {
  const { app, cookie } = await start();
  const told = async (headers: Record<string, string>) => (await app.inject({ url: '/login', headers })).body;
  expect(await told({ cookie: await cookie() })).toContain('action="/logout"');
  for (const headers of [{}, { cookie: 'slowwave_session=made-up' }]) {
    expect(await told(headers as Record<string, string>)).not.toContain('/logout');
  }
});

test('signing out takes the cookie away', async () => {
  const { app } = await start();
  const answer = await app.inject({ method: 'POST', url: '/logout', headers: OWN });
  expect(String(answer.headers['set-cookie'])).toContain('slowwave_session=; Path=/; Max-Age=0');
  expect((await app.inject({ method: 'POST', url: '/logout' })).statusCode).toBe(403);
});

test('a cookie that was changed, made elsewhere or is too old counts for nothing', async () => {
  let now = 0;
  const here = sessions(
    async () => KEY,
    () => now,
  );
  const headers: Record<string, string> = {};
  const reply = {
    request: { protocol: 'http', headers: {} },
    header: (_: string, value: string) => (headers.cookie = value.split(';')[0] ?? ''),
  };
  await here.begin(reply as never, 'sw_mine');
  const keyIn = (cookie: string | undefined, by = here) =>
    by.of({ headers: { cookie } } as never).then((session) => session?.key ?? null);
  const elsewhere = sessions(
    async () => 'another secret',
    () => now,
  );
  expect(await keyIn(headers.cookie)).toBe('sw_mine');
  expect(await keyIn(`${headers.cookie?.slice(0, -2)}xx`)).toBeNull();
  expect(await keyIn(headers.cookie, elsewhere)).toBeNull();
  expect(await keyIn('slowwave_session=')).toBeNull();
  now = 12 * 60 * 60 * 1_000;
  expect(await keyIn(headers.cookie)).toBeNull();
});

test('what one process seals others with the same secret can read, and nobody else', () => {
  expect(sealer(KEY).unseal(sealer(KEY).seal('小明'))).toBe('小明');
  expect(sealer(ownSecret()).unseal(sealer(ownSecret()).seal('x'))).toBeNull();
});
