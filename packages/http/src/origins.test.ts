import { once } from 'node:events';
import { connect } from 'node:net';
import { afterEach, expect, test } from 'vitest';
import { needScope } from './access.ts';
import { allowPages } from './sessions.ts';
import type { App, Routes } from './shell.ts';
import { testShell } from './testing.ts';

const KEY = 'a-long-secret';
const closing: App[] = [];

afterEach(async () => {
  await Promise.all(closing.splice(0).map((app) => app.close()));
});

async function start(apiKey: string | null) {
  const { app } = await testShell({ auth: { apiKey, keys: null } });
  closing.push(app);
  const pages: Routes = async (scope) => {
    allowPages(scope);
    needScope(scope, 'operator');
    scope.get('/page', async () => 'a page');
    scope.put('/page/act', async () => ({ acted: true }));
  };
  await app.register(pages);
  app.post('/v1/notes', async () => ({ ok: true }));
  app.get('/v1/notes', async () => ({ notes: [] }));
  return app;
}

const FORM = 'content-type: application/x-www-form-urlencoded';
const JSON_TYPE = 'content-type: application/json';

/** The status of the answer to the head of a request alone: of its body not one byte is ever sent. */
async function statusOfHead(app: App, line: string, headers: readonly string[]): Promise<number> {
  await app.listen({ port: 0, host: '127.0.0.1' });
  const address = app.server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  const socket = connect(port, '127.0.0.1');
  socket.write([`${line} HTTP/1.1`, ...headers, 'content-length: 3000', '', ''].join('\r\n'));
  const [chunk] = (await once(socket, 'data')) as [Buffer];
  socket.destroy();
  return Number(chunk.toString().split(' ')[1]);
}

const EVIL = 'origin: http://evil.example';
const CROSS = 'sec-fetch-site: cross-site';

test.each([
  { of: 'a login that another site sends', apiKey: KEY, line: 'POST /login', headers: ['host: here', FORM, EVIL] },
  { of: 'a login of nobody knows whose page', apiKey: KEY, line: 'POST /login', headers: ['host: here', FORM] },
  { of: 'a logout that another site sends', apiKey: KEY, line: 'POST /logout', headers: ['host: here', FORM, CROSS] },
  {
    of: 'a login under another name of an open server',
    apiKey: null,
    line: 'POST /login',
    headers: ['host: evil.example', FORM, EVIL],
  },
  {
    of: 'what another site sends to an open server',
    apiKey: null,
    line: 'POST /v1/notes',
    headers: ['host: localhost', JSON_TYPE, CROSS],
  },
  {
    of: 'what another site sends to an open server with an older browser',
    apiKey: null,
    line: 'POST /v1/notes',
    headers: ['host: localhost', JSON_TYPE, EVIL],
  },
  {
    of: 'what names another host of an open server',
    apiKey: null,
    line: 'POST /v1/notes',
    headers: ['host: evil.example', JSON_TYPE],
  },
])('$of is refused before a byte of its body is read', async ({ apiKey, line, headers }) => {
  expect(await statusOfHead(await start(apiKey), line, headers)).toBe(403);
});

test.each([
  { of: 'without a body', method: 'POST', headers: { 'sec-fetch-site': 'cross-site' } },
  { of: 'that only reads', method: 'GET', headers: { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'no-cors' } },
  {
    of: 'that opens data in a tab',
    method: 'GET',
    headers: { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate' },
  },
  { of: 'from a page without an origin', method: 'POST', headers: { origin: 'null' } },
] as const)('an open server refuses what another site asks of it $of', async ({ method, headers }) => {
  const app = await start(null);
  const answer = await app.inject({ method, url: '/v1/notes', headers });
  expect(answer.json()).toMatchObject({ status: 403, code: 'forbidden' });
  expect(answer.json().detail).toContain('another site');
});

test.each([
  { of: 'programs', headers: {} },
  { of: 'its own pages', headers: { 'sec-fetch-site': 'same-origin', origin: 'http://localhost' } },
  { of: 'people who type its address', headers: { 'sec-fetch-site': 'none' } },
  { of: 'pages of this machine in older browsers', headers: { origin: 'http://[::1]:3000' } },
])('an open server answers $of', async ({ headers }) => {
  const app = await start(null);
  expect((await app.inject({ url: '/v1/notes', headers: headers as Record<string, string> })).statusCode).toBe(200);
});

test('a link of another site may lead to a page, and do nothing there', async () => {
  const app = await start(null);
  const headers = { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate' };
  expect((await app.inject({ url: '/page', headers })).body).toBe('a page');
  expect((await app.inject({ method: 'PUT', url: '/page/act', headers })).statusCode).toBe(403);
});

test('where a key is needed, the key says who asks', async () => {
  const app = await start(KEY);
  const headers = { 'sec-fetch-site': 'cross-site', authorization: `Bearer ${KEY}` };
  expect((await app.inject({ url: '/v1/notes', headers })).statusCode).toBe(200);
});
