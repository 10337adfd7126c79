import { afterEach, expect, test } from 'vitest';
import { testShell } from './testing.ts';
import type { App } from './types.ts';

const KEY = 'a-long-secret';
const closing: App[] = [];

afterEach(async () => {
  await Promise.all(closing.splice(0).map((app) => app.close()));
});

async function start(apiKey: string | null) {
  const { app } = await testShell({ auth: { apiKey } });
  closing.push(app);
  app.get('/v1/notes', async (request) => ({ tenant: request.tenant }));
  return app;
}

const basic = (password: string): string => `Basic ${Buffer.from(`any:${password}`).toString('base64')}`;

test.each([
  ['no key', undefined, 401],
  ['another key', 'Bearer wrong', 401],
  ['a key without a scheme', KEY, 401],
  ['an unknown scheme', `Digest ${KEY}`, 401],
  ['half the key', `Bearer ${KEY.slice(0, 5)}`, 401],
  ['another password', basic('wrong'), 401],
  ['the key', `Bearer ${KEY}`, 200],
  ['the key as a token', `Token ${KEY}`, 200],
  ['the key as a password', basic(KEY), 200],
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

test('a browser is asked for the key as a password', async () => {
  const app = await start(KEY);
  const answer = await app.inject({ url: '/docs', headers: { accept: 'text/html,*/*' } });
  expect(answer.headers['www-authenticate']).toBe('Basic realm="slowwave"');
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
