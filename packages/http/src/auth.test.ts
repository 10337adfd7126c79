import { afterEach, expect, test } from 'vitest';
import { type KeyCheck, needScope, type Principal, requestTenant } from './access.ts';
import type { App } from './shell.ts';
import { testShell } from './testing.ts';

const KEY = 'a-long-secret';
const closing: App[] = [];

afterEach(async () => {
  await Promise.all(closing.splice(0).map((app) => app.close()));
});

async function start(apiKey: string | null, keys: KeyCheck | null = null) {
  const { app } = await testShell({ auth: { apiKey, keys } });
  closing.push(app);
  needScope(app, 'search');
  app.get('/v1/notes', async (request) => ({ tenant: requestTenant(request) }));
  return app;
}

test.each([
  ['no key', undefined, 401],
  ['another key', 'Bearer wrong', 401],
  ['a key without a scheme', KEY, 401],
  ['an unknown scheme', `Digest ${KEY}`, 401],
  ['half the key', `Bearer ${KEY.slice(0, 5)}`, 401],
  ['the key as a password, which browsers would send for other sites as well', `Basic ${btoa(`any:${KEY}`)}`, 401],
  ['the key', `Bearer ${KEY}`, 200],
  ['the key as a token', `Token ${KEY}`, 200],
])('with %s the answer is as it should be', async (_name, authorization, status) => {
  const app = await start(KEY);
  const answer = await app.inject({ url: '/v1/notes', headers: authorization === undefined ? {} : { authorization } });
  expect(answer.statusCode).toBe(status);
  expect(answer.headers['www-authenticate']).toBe(status === 401 ? 'Bearer realm="slowwave"' : undefined);
});

test.each(['/metrics', '/docs', '/openapi.json', '/v1/unknown'])('%s needs the key when one is set', async (url) => {
  const app = await start(KEY);
  expect((await app.inject(url)).statusCode).toBe(401);
});

test.each(['/healthz', '/readyz'])('%s never needs a key', async (url) => {
  const app = await start(KEY);
  expect((await app.inject(url)).statusCode).toBe(200);
});

test('the key may come in a header of its own', async () => {
  const app = await start(KEY);
  expect((await app.inject({ url: '/v1/notes', headers: { 'x-api-key': KEY } })).statusCode).toBe(200);
  expect((await app.inject({ url: '/v1/notes', headers: { 'x-api-key': 'wrong' } })).statusCode).toBe(401);
});

test.each([
  ['localhost:7070', 200],
  ['127.0.0.1:7070', 200],
  ['[::1]:7070', 200],
  ['rebound.example:7070', 403],
])('without a key a request to %s is answered with %i', async (host, status) => {
  const app = await start(null);
  expect((await app.inject({ url: '/v1/notes', headers: { host } })).statusCode).toBe(status);
});

const PRINCIPAL: Principal = { keyId: 'key_1', tenant: 'acme', scopes: ['search'], userId: null, appId: null };

/** Keys that were given out: by what is sent. */
const given = (known: Readonly<Record<string, Principal>>, any = true): KeyCheck => ({
  any: async () => any,
  check: async (text) => {
    const principal = known[text];
    return principal === undefined ? { kind: 'refused', reason: 'revoked' } : { kind: 'taken', principal };
  },
});

const as = (key: string) => ({ headers: { authorization: `Bearer ${key}` } });

test('a key that was given out brings its tenant, beside the static one', async () => {
  const app = await start(KEY, given({ sw_mine: PRINCIPAL }));
  expect((await app.inject({ url: '/v1/notes', ...as('sw_mine') })).json()).toEqual({ tenant: 'acme' });
  expect((await app.inject({ url: '/v1/notes', ...as(KEY) })).json()).toEqual({ tenant: 'default' });
  const refused = await app.inject({ url: '/v1/notes', ...as('sw_other') });
  expect(refused.json()).toMatchObject({ status: 401, detail: expect.stringContaining('revoked') });
});

test('from the first key on requests need one, on this machine as well', async () => {
  const before = await start(null, given({}, false));
  expect((await before.inject('/v1/notes')).statusCode).toBe(200);
  const after = await start(null, given({ sw_mine: PRINCIPAL }));
  expect((await after.inject('/v1/notes')).statusCode).toBe(401);
  expect((await after.inject({ url: '/v1/notes', ...as('sw_mine') })).statusCode).toBe(200);
});

test('a key that was just given out stands for its tenant, also where nobody needs one yet', async () => {
  const app = await start(null, given({ sw_mine: PRINCIPAL }, false));
  expect((await app.inject({ url: '/v1/notes', ...as('sw_mine') })).json()).toEqual({ tenant: 'acme' });
  expect((await app.inject({ url: '/v1/notes', ...as('sw_other') })).json()).toEqual({ tenant: 'default' });
});

test('where keys cannot be looked up nobody is let in, but with the static key', async () => {
  const away = Object.assign(new Error('away'), { name: 'EngineError', code: 'ledger_unavailable' });
  const keys: KeyCheck = { any: () => Promise.reject(away), check: () => Promise.reject(away) };
  const unkeyed = await start(null, keys);
  expect((await unkeyed.inject('/v1/notes')).statusCode).toBe(503);
  const keyed = await start(KEY, keys);
  expect((await keyed.inject({ url: '/v1/notes', ...as('sw_mine') })).statusCode).toBe(503);
  expect((await keyed.inject({ url: '/v1/notes', ...as(KEY) })).statusCode).toBe(200);
});
